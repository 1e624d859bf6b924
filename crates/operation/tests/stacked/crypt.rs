//! dm-crypt: its queues and its workers.

use super::*;

/// Who encrypts in these stories.
const WORKER: Tid = Tid(300);
const CRYPT: TextId = TextId(1);

/// dm-crypt: a worker encrypts what is written, and another thread sends it below.
const ENCRYPTED: &str = "
          1  Q W 8+8 dev=253,0
        100  A W 2056+8 <- 253,0 8 tid=400
        101  Q W 2056+8 tid=400
        102  G W 2056+8 tid=400
        103  D W 2056+8 tid=400
        150  C W 2056+8 tid=0
        150  C W 8+8 dev=253,0 tid=0";

fn encrypted_by(queued_by: Tid) -> String {
    let beside = [
        (0, WORKER, 0, What::WorkEnd),
        (5, queued_by, 0, What::WorkQueued { work: 7, function: CRYPT }),
        (20, WORKER, 0, What::Switch { left: Left::Preempted, next: WORKER }),
        (30, WORKER, 0, What::WorkStart { work: 7, function: CRYPT }),
        (80, WORKER, 0, What::WorkEnd),
    ];
    let all = called_beside(Call::Write, 8, ENCRYPTED, &beside);
    parts(&all[0].1)
}

#[test]
fn a_write_on_dm_crypt_waits_in_its_queues_and_for_its_worker() {
    expect(
        &encrypted_by(TASK),
        "0 on-cpu 8
         0 wait 142
         1 253,0 write 142
         2 wait 93
         3 work-queue 22
         3 on-cpu 50
         3 work-queue 21
         2 8,0 write 49
         3 get-request 1
         3 prepare 1
         3 device 47
         0 on-cpu 1",
    );
}

#[test]
fn an_item_that_another_task_queued_is_another_bios() {
    let parts = encrypted_by(Tid(200));
    assert!(parts.contains("2 stacking 93") && !parts.contains("work-queue"), "{parts}");
}

#[test]
fn a_read_on_dm_crypt_is_decrypted_behind_its_request() {
    let queue = |at| (at, Tid(0), Context::HARD, What::WorkQueued { work: 7, function: CRYPT });
    let beside = [
        (0, WORKER, 0, What::WorkEnd),
        queue(91),
        (92, WORKER, 0, What::Switch { left: Left::Preempted, next: WORKER }),
        (100, WORKER, 0, What::WorkStart { work: 7, function: CRYPT }),
        (130, WORKER, 0, What::WorkEnd),
    ];
    let all = called_beside(
        Call::Read,
        20,
        "
          1  Q R 8+8 dev=253,0
          5  A R 2056+8 <- 253,0 8
          6  Q R 2056+8
          7  G R 2056+8
         60  D R 2056+8
         90  C R 2056+8 tid=0
        129  C R 8+8 dev=253,0 tid=0",
        &beside,
    );
    let parts = parts(&all[0].1);
    assert!(parts.contains("2 wait 38\n3 work-queue 9\n3 on-cpu 29\n"), "{parts}");
}
