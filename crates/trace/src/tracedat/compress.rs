//! The two compression formats that trace-cmd uses, unpacked into a buffer of known size.

use std::io::Read;

/// Compression of a file's sections, as named in the file's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// No compression.
    None,
    /// zlib with its own header and checksum (RFC 1950).
    Zlib,
    /// Zstandard (RFC 8878).
    Zstd,
}

impl Codec {
    /// The compression with this name in the header; `None` if unknown.
    pub fn named(name: &str) -> Option<Codec> {
        match name {
            "none" | "" => Some(Codec::None),
            "zlib" => Some(Codec::Zlib),
            "zstd" => Some(Codec::Zstd),
            _ => None,
        }
    }

    /// Unpacks into `out`, at most `size` bytes, as the file declares. Memory grows
    /// with the actual output, so a false declaration costs nothing.
    pub fn unpack(self, packed: &[u8], size: usize, out: &mut Vec<u8>) -> Result<(), String> {
        out.clear();
        let limit = size as u64;
        let read = match self {
            Codec::None => return Err("compressed, but the file's header names no compression".into()),
            Codec::Zlib => flate2::read::ZlibDecoder::new(packed).take(limit).read_to_end(out),
            Codec::Zstd => {
                zstd::stream::read::Decoder::with_buffer(packed).and_then(|d| d.take(limit).read_to_end(out))
            }
        };
        match read {
            Ok(n) if n == size => Ok(()),
            Ok(n) => Err(format!("{size} bytes were expected but {n} were decompressed")),
            Err(e) => Err(format!("the compressed bytes are damaged: {e}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn both_codecs_and_lies() {
        let text = b"0123456789".repeat(100);
        let z = zstd::bulk::compress(&text, 1).unwrap();
        let mut e = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        e.write_all(&text).unwrap();
        for (codec, packed) in [(Codec::Zstd, z), (Codec::Zlib, e.finish().unwrap())] {
            let mut out = Vec::new();
            codec.unpack(&packed, text.len(), &mut out).unwrap();
            assert_eq!(out, text);
            assert!(codec.unpack(&packed, text.len() + 1, &mut out).is_err());
            assert!(codec.unpack(&packed[..packed.len() / 2], text.len(), &mut out).is_err());
            assert!(codec.unpack(b"junk", 4, &mut out).is_err());
        }
        assert!(Codec::None.unpack(b"", 0, &mut Vec::new()).is_err());
    }
}
