//! What the lines of each part of the kernel say, with the files that print them.

use super::*;

/// Part of the kernel that speaks.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum By {
    Ata,
    Scsi,
    Adapter,
    Nvme,
    Mmc,
    Usb,
    Multipath,
    Server,
    Floppy,
}

/// What lines say, the first that fits counts; `*` stands for any text.
pub(super) const SAY: &[(By, &str, &str)] = &[
    // drivers/ata/libata-eh.c, libata-core.c, libata-sff.c
    (By::Ata, "exception", EXCEPTIONS),
    (By::Ata, "limiting SATA link speed", EXCEPTIONS),
    (By::Ata, "NCQ disabled due to excessive errors", EXCEPTIONS),
    (By::Ata, "failed command", COMMAND),
    (By::Ata, " res *(timeout)", TIMEOUTS),
    (By::Ata, " res *(media error)", SENSE),
    (By::Ata, " res *bus error)", BUS),
    (By::Ata, " res *(HSM violation)", BUS),
    (By::Ata, "qc timeout", TIMEOUTS),
    (By::Ata, "lost interrupt", TIMEOUTS),
    (By::Ata, "error: {*UNC", MEDIUM),
    (By::Ata, "error: {*ICRC", BUS),
    (By::Ata, "error: {*IDNF", ERRORS),
    (By::Ata, "hard resetting", RESETS),
    (By::Ata, "soft resetting", RESETS),
    (By::Ata, "COMRESET failed", WAS_RESET),
    (By::Ata, "reset failed", WAS_RESET),
    (By::Ata, "slow to respond", WAS_RESET),
    (By::Ata, ": disabled", OFFLINE),
    (By::Ata, ": disable device", OFFLINE),
    // drivers/scsi/scsi_logging.c, constants.c: sense data
    (By::Scsi, "Sense Key : Medium Error", SENSE),
    (By::Scsi, "Sense Key : Hardware Error", HARDWARE),
    (By::Scsi, "Sense Key : Illegal Request", REFUSED),
    (By::Scsi, "Sense Key : Blank Check", REFUSED),
    (By::Scsi, "Sense Key : Data Protect", REFUSED),
    (By::Scsi, "Sense Key : Aborted Command", GIVEN_UP),
    (By::Scsi, "Sense Key : Not Ready", GIVEN_UP),
    // Kernels without texts of them (CONFIG_SCSI_CONSTANTS) print numbers.
    (By::Scsi, "Sense Key : 0x3 ", SENSE),
    (By::Scsi, "Sense Key : 0x4 ", HARDWARE),
    (By::Scsi, "Sense Key : 0x5 ", REFUSED),
    (By::Scsi, "Sense Key : 0x7 ", REFUSED),
    (By::Scsi, "Sense Key : 0x8 ", REFUSED),
    (By::Scsi, "Sense Key : 0xb ", GIVEN_UP),
    (By::Scsi, "Sense Key : 0x2 ", GIVEN_UP),
    (By::Scsi, "Add. Sense: Unrecovered read error", UNREAD),
    (By::Scsi, "ASC=0x11 ", UNREAD),
    (By::Scsi, "Add. Sense: Incompatible medium", NO_MEDIUM),
    (By::Scsi, "Add. Sense: Cannot read medium", NO_MEDIUM),
    (By::Scsi, "Add. Sense: Medium not present", NO_MEDIUM),
    // What libata makes of a command that ended without an error of its own (drivers/ata/libata-scsi.c, `ata_to_sense_error`).
    (By::Scsi, "Add. Sense: Unaligned write command", LOST),
    (By::Scsi, "CDB: Write(", WRITE),
    // drivers/scsi/scsi_error.c, scsi_lib.c, sd.c
    (By::Scsi, "Power-on", POWER_ON),
    (By::Scsi, "offline", OFFLINE),
    (By::Scsi, "rejecting I/O to dead", OFFLINE),
    (By::Scsi, "timing out command", TIMEOUTS),
    (By::Scsi, "hostbyte=DID_TIME_OUT", TIMEOUTS),
    // drivers/usb/storage/uas.c
    (By::Scsi, "uas_eh_abort_handler", TIMEOUTS),
    (By::Scsi, "uas_eh_*_reset_handler start", RESETS),
    (By::Scsi, "uas_eh_*_reset_handler", WAS_RESET),
    (By::Scsi, " cmplt err ", TRANSPORT),
    // Drivers' error handlers: mpt3sas_scsih.c, megaraid_sas_fusion.c, vmw_pvscsi.c, ...
    (By::Scsi, "abort: ", ABORTED),
    (By::Scsi, "abort", TIMEOUTS),
    (By::Scsi, "reset: ", WAS_RESET),
    (By::Scsi, "reset", RESETS),
    (By::Scsi, "RESET", RESETS),
    // drivers/scsi/scsi_transport_fc.c, scsi_transport_iscsi.c, libiscsi.c
    (By::Scsi, "blocked FC remote port time out", OFFLINE),
    (By::Scsi, "detected conn error", TRANSPORT),
    (By::Scsi, "ping timeout", TIMEOUTS),
    (By::Scsi, "session recovery timed out", OFFLINE),
    // drivers/scsi/mpt3sas: mpt3sas_scsih.c; mpt3sas_base.c, `_base_sas_log_info`: commands that a reset or an abort ended
    (By::Adapter, "attempting task abort", TIMEOUTS),
    (By::Adapter, "task abort: ", ABORTED),
    (By::Adapter, "attempting * reset", RESETS),
    (By::Adapter, "reset: ", WAS_RESET),
    (By::Adapter, "originator(PL), code(0x11)", EXCEPTIONS),
    (By::Adapter, "originator(PL), code(0x12)", EXCEPTIONS),
    (By::Adapter, "fault_state(", EXCEPTIONS),
    (By::Adapter, "sending diag reset", RESETS),
    (By::Adapter, "non-operational", OFFLINE),
    // drivers/scsi/megaraid/megaraid_sas_base.c, megaraid_sas_fusion.c
    (By::Adapter, "FAULT state", EXCEPTIONS),
    (By::Adapter, "will reset adapter", RESETS),
    (By::Adapter, "resetting fusion adapter", RESETS),
    (By::Adapter, "commands to complete", TIMEOUTS),
    // drivers/scsi/aacraid/linit.c, commsup.c
    (By::Adapter, "abort request", TIMEOUTS),
    (By::Adapter, "reset request", RESETS),
    (By::Adapter, "adapter dead", OFFLINE),
    // drivers/scsi/hpsa.c, smartpqi/smartpqi_init.c, arcmsr/arcmsr_hba.c, 3w-9xxx.c
    (By::Adapter, "resetting ", RESETS),
    (By::Adapter, "lockup detected", TIMEOUTS),
    (By::Adapter, "controller offline", OFFLINE),
    (By::Adapter, "timed out, resetting card", RESETS),
    (By::Adapter, "abort device command", TIMEOUTS),
    // drivers/scsi/qla2xxx/qla_os.c, qla_isr.c
    (By::Adapter, "Abort command issued", TIMEOUTS),
    (By::Adapter, "RESET ISSUED", RESETS),
    (By::Adapter, "LOOP DOWN detected", EXCEPTIONS),
    // drivers/scsi/lpfc/lpfc_scsi.c, lpfc_els.c, lpfc_hbadisc.c
    (By::Adapter, "SCSI layer issued * Reset", RESETS),
    (By::Adapter, "Devloss timeout", OFFLINE),
    (By::Adapter, "Link Down Event", EXCEPTIONS),
    // drivers/scsi/libsas/sas_scsi_host.c
    (By::Adapter, "busy: 0 failed: 0", NOTHING),
    (By::Adapter, "Enter sas_scsi_recover_host", TIMEOUTS),
    // drivers/scsi/storvsc_drv.c
    (By::Adapter, "srb 0x*hv 0x", TRANSPORT),
    // drivers/nvme/host/pci.c, core.c, constants.c; fabrics: tcp.c, rdma.c, fc.c. -19 is ENODEV.
    (By::Nvme, "timeout, ", TIMEOUTS),
    (By::Nvme, "keep-alive", TIMEOUTS),
    (By::Nvme, "Disabling device after reset failure", OFFLINE),
    (By::Nvme, "Removing after probe failure", OFFLINE),
    (By::Nvme, "(-19)", OFFLINE),
    (By::Nvme, "Device not ready; aborting reset", RESETS),
    (By::Nvme, "controller is down", RESETS),
    (By::Nvme, "reset controller", RESETS),
    (By::Nvme, "resetting controller", RESETS),
    (By::Nvme, "starting error recovery", TRANSPORT),
    (By::Nvme, "Failed reconnect attempt", TRANSPORT),
    (By::Nvme, "(sct 0x2 ", SENSE),
    (By::Nvme, "(sct 0x3 ", TRANSPORT),
    (By::Nvme, "Invalid *(sct 0x0 ", REFUSED),
    // drivers/mmc: core/block.c, core/mmc_ops.c, host/sdhci.c, host/bcm2835.c, host/cqhci-core.c. -110 is ETIMEDOUT, -84 EILSEQ (CRC).
    (By::Mmc, "Timeout waiting for hardware", TIMEOUTS),
    (By::Mmc, "timeout for tag", TIMEOUTS),
    (By::Mmc, "Card stuck", TIMEOUTS),
    (By::Mmc, "error -110", TIMEOUTS),
    (By::Mmc, "timed out sending", TIMEOUTS),
    (By::Mmc, "error -84", TRANSPORT),
    (By::Mmc, "running CQE recovery", RESETS),
    (By::Mmc, "never completed", RESETS),
    (By::Mmc, "recovery failed", OFFLINE),
    // drivers/usb/core/hub.c
    (By::Usb, "reset *USB device", RESETS),
    (By::Usb, "USB disconnect", UNPLUGGED),
    // drivers/md/dm-mpath.c
    (By::Multipath, "Failing path", PATHS),
    // net/sunrpc/clnt.c (`call_timeout`); fs/smb/client/connect.c; drivers/block/nbd.c
    (By::Server, "not responding", SERVER),
    (By::Server, "has not responded", SERVER),
    (By::Server, "Connection timed out", SERVER),
    (By::Server, "Possible stuck request", SERVER),
    // drivers/block/floppy.c
    (By::Floppy, "disk absent or changed", REFUSED),
];

/// A line that says nothing of interest although a later pattern would fit.
pub(super) const NOTHING: &str = "";
