//! Solana's Token program, and no other: Token-2022's mints may charge fees or call hooks on a transfer.

use crate::attest::hex;
use crate::runtime::{find_address, same, Account, Bytes, Call, Key};
use crate::{Error, Result};

/// TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA
pub const TOKEN_PROGRAM: Key = hex(b"06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9");
/// ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL
const ASSOCIATED_TOKEN_PROGRAM: Key = hex(b"8c97258f4e2489f1bb3d1029148e0d830b5a1399daff1084048e7bd8dbe9f859");
/// So11111111111111111111111111111111111111112
pub const WRAPPED_SOL: Key = hex(b"069b8857feab8184fb687f634618c035dac439dc1aeb3b5598a0f00000000001");

/// A token account's data.
#[repr(C)]
pub struct TokenAccount {
    pub mint: Key,
    pub owner: Key,
    amount: [u8; 8],
    rest: [u8; 93],
}

pub const TOKEN_ACCOUNT_SIZE: u64 = core::mem::size_of::<TokenAccount>() as u64;
const _: () = assert!(TOKEN_ACCOUNT_SIZE == 165);

impl TokenAccount {
    pub fn amount(&self) -> u64 {
        u64::from_le_bytes(self.amount)
    }
}

/// Returns a token account's data.
pub fn token_account(account: Account) -> Result<&'static TokenAccount> {
    account.foreign(&TOKEN_PROGRAM)
}

/// Checks that the owner is expected to hold the token in this account: the associated one. An owner can give that away.
/// If it did, and the account that it gave away is shown, any account of the owner's will do: otherwise it could choose
/// not to be paid.
pub fn check_holder(account: Account, owner: &Key, mint: &Key, given_away: Option<Account>) -> Result<()> {
    let token = token_account(account)?;
    if !same(&token.owner, owner) || !same(&token.mint, mint) {
        return Err(Error::WrongAccount);
    }
    let seeds = [Bytes::of(owner), Bytes::of(&TOKEN_PROGRAM), Bytes::of(mint)];
    let (usual, _) = find_address(&seeds, &ASSOCIATED_TOKEN_PROGRAM)?;
    if same(account.key(), &usual) {
        return Ok(());
    }
    let other = token_account(given_away.ok_or(Error::WrongAccount)?.is(&usual)?)?;
    if same(&other.owner, owner) {
        Err(Error::WrongAccount)
    } else {
        Ok(())
    }
}

/// A transfer between two token accounts. `signer` has the seeds of the authority if it is a derived address.
pub struct Transfer<'a> {
    pub from: Account,
    pub to: Account,
    pub authority: Account,
    pub amount: u64,
    pub signer: &'a [Bytes<'a>],
}

impl Transfer<'_> {
    pub fn run(&self) -> Result<()> {
        let mut data = [3; 9];
        data[1..].copy_from_slice(&self.amount.to_le_bytes());
        Call {
            program: &TOKEN_PROGRAM,
            accounts: &[self.from.writes(), self.to.writes(), self.authority.agrees()],
            data: &data,
            signer: self.signer,
        }
        .run()
    }
}

/// Makes a new account of the Token program hold this mint for this owner.
pub fn initialize(account: Account, mint: Account, owner: &Key) -> Result<()> {
    let mut data = [18; 33];
    data[1..].copy_from_slice(owner);
    let accounts = [account.writes(), mint.reads()];
    Call { program: &TOKEN_PROGRAM, accounts: &accounts, data: &data, signer: &[] }.run()
}

/// Ends an empty token account of a derived address.
pub fn close(account: Account, rent_to: Account, authority: Account, signer: &[Bytes]) -> Result<()> {
    let accounts = [account.writes(), rent_to.writes(), authority.agrees()];
    Call { program: &TOKEN_PROGRAM, accounts: &accounts, data: &[9], signer }.run()
}
