// Builds the page's script and style into crates/report/src/html/built, which is committed: cargo needs no Node.
// With --check nothing is written; the status says whether the committed files are what the sources give.
import { buildSync } from 'esbuild';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '../src/html/built');
const bundle = (entry, extra) =>
  buildSync({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    write: false,
    charset: 'utf8',
    legalComments: 'inline',
    target: 'es2020',
    ...extra,
  }).outputFiles[0].text;

// uPlot's licence asks to go with it.
const uplot = JSON.parse(readFileSync(join(here, 'node_modules/uplot/package.json'), 'utf8')).version;
const licence = readFileSync(join(here, 'node_modules/uplot/LICENSE'), 'utf8').trim();
const banner = { js: `/*! With uPlot ${uplot}:\n${licence}\n*/` };
// What would end the script element must not be in it.
const script = bundle('src/main.ts', { format: 'iife', banner }).replaceAll('</script', '<\\/script');
const built = {
  'page.js': script,
  'page.js.sha256': createHash('sha256').update(script).digest('base64') + '\n',
  'page.css': bundle('src/page.css'),
};

let stale = false;
for (const [name, text] of Object.entries(built)) {
  const file = join(out, name);
  if (process.argv.includes('--check')) {
    if (readFileSync(file, 'utf8') !== text) {
      console.error(`${name} is not what the sources give: run make page`);
      stale = true;
    }
  } else {
    writeFileSync(file, text);
    console.log(`${name}: ${text.length} bytes`);
  }
}
process.exit(stale ? 1 : 0);
