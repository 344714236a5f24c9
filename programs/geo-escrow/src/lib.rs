//! Holds the inputs of orders that begin on Solana, and the inventory from which orders that end on Solana are paid.
//!
//! The escrow half (`escrow.rs`) corresponds to `GeoEscrow.sol`: no key of anyone can move an input except to the
//! order's vault or back to the order's wallet. The vault half (`vault.rs`) corresponds to `GeoVault.sol`: operators pay
//! orders, each at most once and within hourly caps, and only the owner withdraws. Anyone can create a vault. The escrow
//! has no owner.
//!
//! A wallet opens an order by a plain transfer of the Token or System program, and its signature is in no instruction of
//! this program, so that not even another version of this program can take more than that transfer.
#![no_std]

mod attest;
mod escrow;
mod order;
mod runtime;
mod token;
mod vault;

use runtime::Input;

/// The error of a failed instruction, as Solana's `Custom(code)`.
#[derive(Clone, Copy, PartialEq)]
#[repr(u32)]
pub enum Error {
    UnknownInstruction = 1,
    WrongAccountCount = 2,
    WrongDataLength = 3,
    MissingSignature = 4,
    /// An account is not the one that the order, the vault or the program prescribes.
    WrongAccount = 5,
    /// An account is not owned by the program that must own it, or has another type.
    WrongOwner = 6,
    InvalidDeadlines = 7,
    InvalidAmount = 8,
    UnsupportedMint = 9,
    NotOpen = 10,
    NotDecided = 11,
    TooEarly = 12,
    WrongAttesterSet = 13,
    ThresholdNotMet = 14,
    InvalidAttester = 15,
    /// The input has not arrived.
    NotFunded = 16,
    NotOperator = 17,
    NotVaultOwner = 18,
    Paused = 19,
    AlreadyDecided = 20,
    FillExpired = 21,
    TooLittleDelivered = 22,
    OutflowCapExceeded = 23,
    WrongOrigin = 24,
    TooManyAssets = 25,
    Overflow = 26,
    InsufficientInventory = 27,
    AlreadyOpened = 28,
    AlreadyPaid = 29,
    NotPaid = 30,
    /// A syscall failed. No test causes this: a failed call of another program ends the whole transaction.
    SyscallFailed = 31,
}

pub type Result<T> = core::result::Result<T, Error>;

/// # Safety
/// Solana's loader calls this with the accounts and data of one instruction, in its own format.
#[no_mangle]
pub unsafe extern "C" fn entrypoint(input: *mut u8) -> u64 {
    match Input::parse(input).and_then(|input| run(&input)) {
        Ok(()) => 0,
        Err(error) => error as u64,
    }
}

fn run(input: &Input) -> Result<()> {
    let (&instruction, data) = input.data.split_first().ok_or(Error::UnknownInstruction)?;
    match instruction {
        0 => escrow::prepare(input, data),
        1 => escrow::open(input),
        2 => escrow::decide(input, data),
        3 => escrow::expire(input),
        4 => escrow::pay(input),
        5 => escrow::close(input),
        10 => vault::create(input, data),
        11 => vault::set_roles(input, data),
        12 => vault::accept_ownership(input),
        13 => vault::set_cap(input, data),
        14 => vault::pause(input, data),
        15 => vault::withdraw(input, data),
        16 => vault::fill(input, data),
        17 => vault::void(input, data),
        18 => vault::close_record(input),
        _ => Err(Error::UnknownInstruction),
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    runtime::abort()
}
