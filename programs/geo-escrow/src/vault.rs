//! The inventory from which orders are paid that end on Solana. The vault's account holds SOL itself and owns its token
//! accounts. Each order that it paid or voided leaves a record, which cannot be made twice. The vault pays for records
//! and gets their rent back, so that no key that only pays fees has anything to gain from them.

use crate::escrow::{Order, OPENED, RELEASED};
use crate::order::{Deadlines, Reader, Word, Words, CHAIN_ID, MAX_REFUND_DELAY_SECONDS};
use crate::runtime::{find_address, log, now, rent_of, same, Account, Bytes, Input, Key, State, SYSTEM_PROGRAM};
use crate::token::{check_holder, token_account, Transfer};
use crate::{Error, Result};
use core::mem::size_of;

const MAX_ASSETS: usize = 16;
const MAX_OPERATORS: usize = 4;
/// Keeps `per_hour * 3600` below 2^64.
const MAX_PER_HOUR: u64 = u64::MAX / 3_600;
/// The most by which the clocks of two chains differ. A record outlives its order's `refundAfter` by this, and an order
/// of another chain may last for this much longer than one that is opened here.
const CLOCK_MARGIN_SECONDS: u64 = 24 * 60 * 60;

#[repr(C)]
pub struct Vault {
    tag: u8,
    is_paused: u8,
    bump: u8,
    index: u8,
    reserved: [u8; 4],
    /// The owner at creation: part of the address.
    creator: Key,
    owner: Key,
    pending_owner: Key,
    guardian: Key,
    operators: [Key; MAX_OPERATORS],
    assets: [Asset; MAX_ASSETS],
}

/// How much of one token may leave. What left drains away linearly, the whole cap in an hour.
#[repr(C)]
struct Asset {
    token: Key,
    per_hour: u64,
    used: u64,
    updated_at: u64,
}

unsafe impl State for Vault {
    const TAG: u8 = 2;
}

const FILLED: u8 = 1;
const VOIDED: u8 = 2;

/// Records what became of an order from another chain. Its address follows from the order's id.
#[repr(C)]
struct Record {
    tag: u8,
    state: u8,
    reserved: [u8; 6],
    amount: u64,
    /// The lamports that the recipient got beside the amount.
    top_up: u64,
    closable_at: u64,
    vault: Key,
}

unsafe impl State for Record {
    const TAG: u8 = 3;
}

const _: () = assert!(size_of::<Vault>() == 1_160 && size_of::<Record>() == 64);

impl Vault {
    pub fn check_operator(&self, account: Account) -> Result<()> {
        let is_operator = self.operators.iter().any(|operator| same(operator, account.key()));
        // An empty place in the list is the zero key, which must never count.
        if account.is_signer() && is_operator && !same(account.key(), &SYSTEM_PROGRAM) {
            Ok(())
        } else {
            Err(Error::NotOperator)
        }
    }

    fn check_owner(&self, account: Account) -> Result<()> {
        if account.is_signer() && same(account.key(), &self.owner) {
            Ok(())
        } else {
            Err(Error::NotVaultOwner)
        }
    }

    fn spend(&mut self, token: &Key, amount: u64) -> Result<()> {
        if amount == 0 {
            return Ok(());
        }
        let now = now()?;
        let asset = self.assets.iter_mut().find(|asset| asset.per_hour > 0 && same(&asset.token, token));
        let asset = asset.ok_or(Error::OutflowCapExceeded)?;
        asset.drain(now);
        if amount > asset.per_hour.saturating_sub(asset.used) {
            return Err(Error::OutflowCapExceeded);
        }
        asset.used += amount;
        Ok(())
    }
}

impl Asset {
    fn drain(&mut self, now: u64) {
        let seconds = now.saturating_sub(self.updated_at).min(3_600);
        // A cap of zero drains nothing, but after an hour nothing is left of any cap. Cannot overflow: MAX_PER_HOUR.
        let drained = if seconds == 3_600 { self.used } else { self.per_hour.wrapping_mul(seconds) / 3_600 };
        self.used = self.used.saturating_sub(drained);
        self.updated_at = now;
    }
}

/// Creates a vault. Its address follows from its owner, who must sign.
///
/// Accounts: payer (signs, writable), owner (signs), vault (writable), the system program.
pub fn create(input: &Input, data: &[u8]) -> Result<()> {
    let (payer, owner) = (input.account(0)?.signed()?, input.account(1)?.signed()?);
    let account = input.account(2)?;
    let mut data = Reader(data);
    let index = data.byte()?;
    data.end()?;
    let seeds = [Bytes::of(b"vault"), Bytes::of(owner.key()), Bytes::of(core::slice::from_ref(&index))];
    let (address, bump) = find_address(&seeds, input.program)?;
    account.is(&address)?;
    let [a, b, c] = seeds;
    let seeds = [a, b, c, Bytes::of(core::slice::from_ref(&bump))];
    let vault = account.create_state::<Vault>(payer, input.program, &seeds)?;
    vault.bump = bump;
    vault.index = index;
    vault.creator = *owner.key();
    vault.owner = *owner.key();
    Ok(())
}

/// Sets guardian, operators and the key that may become the owner. Accounts: owner (signs), vault (writable).
pub fn set_roles(input: &Input, data: &[u8]) -> Result<()> {
    let vault = input.account(1)?.state::<Vault>(input.program)?;
    vault.check_owner(input.account(0)?)?;
    let mut data = Reader(data);
    vault.guardian = *data.key()?;
    vault.pending_owner = *data.key()?;
    for operator in vault.operators.iter_mut() {
        *operator = *data.key()?;
    }
    data.end()
}

/// Accounts: the pending owner (signs), vault (writable).
pub fn accept_ownership(input: &Input) -> Result<()> {
    let vault = input.account(1)?.state::<Vault>(input.program)?;
    let owner = input.account(0)?.signed()?;
    if !same(owner.key(), &vault.pending_owner) || same(owner.key(), &SYSTEM_PROGRAM) {
        return Err(Error::NotVaultOwner);
    }
    vault.owner = *owner.key();
    vault.pending_owner = [0; 32];
    Ok(())
}

/// Sets how much of a token may leave in an hour. Accounts: owner (signs), vault (writable).
pub fn set_cap(input: &Input, data: &[u8]) -> Result<()> {
    let vault = input.account(1)?.state::<Vault>(input.program)?;
    vault.check_owner(input.account(0)?)?;
    let mut data = Reader(data);
    let token = data.key()?;
    let per_hour = data.number()?;
    data.end()?;
    if per_hour > MAX_PER_HOUR {
        return Err(Error::Overflow);
    }
    let now = now()?;
    let known = vault.assets.iter().position(|asset| asset.updated_at > 0 && same(&asset.token, token));
    // A token whose cap is zero keeps its place for an hour: if its cap is raised again, what has left must still count.
    let free = vault.assets.iter().position(|asset| asset.per_hour == 0 && asset.updated_at + 3_600 <= now);
    let asset = &mut vault.assets[known.or(free).ok_or(Error::TooManyAssets)?];
    if known.is_none() {
        *asset = Asset { token: *token, per_hour, used: 0, updated_at: now };
    }
    asset.drain(now);
    // No more than the new cap: a lower one would otherwise take hours to let anything out again.
    if per_hour > 0 {
        asset.used = asset.used.min(per_hour);
    }
    asset.per_hour = per_hour;
    Ok(())
}

/// Stops fills (1) or allows them again (0). Accounts: guardian or owner (signs), vault (writable). Only the owner unpauses.
pub fn pause(input: &Input, data: &[u8]) -> Result<()> {
    let vault = input.account(1)?.state::<Vault>(input.program)?;
    let by = input.account(0)?.signed()?;
    let is_guardian = same(by.key(), &vault.guardian) && !same(by.key(), &SYSTEM_PROGRAM);
    match data {
        [1] if is_guardian => vault.is_paused = 1,
        [is_paused @ (0 | 1)] => {
            vault.check_owner(by)?;
            vault.is_paused = *is_paused;
        }
        _ => return Err(Error::WrongDataLength),
    }
    Ok(())
}

/// Withdraws inventory to any account. Accounts: owner (signs), vault (writable), to (writable); for a token also from
/// (writable) and the Token program.
pub fn withdraw(input: &Input, data: &[u8]) -> Result<()> {
    let account = input.account(1)?;
    let vault = account.state::<Vault>(input.program)?;
    vault.check_owner(input.account(0)?)?;
    let mut data = Reader(data);
    let amount = data.number()?;
    data.end()?;
    let to = input.account(2)?;
    if input.count() == 3 {
        return send_native(account, to, amount);
    }
    send_token(vault, &Payment { account, from: input.account(3)?, to, amount })
}

/// Pays an order's recipient, once. An order that also began on Solana is released by it.
///
/// Accounts: operator (signs), vault (writable), the record or, for an order that began on Solana, the order (writable),
/// recipient (writable if it gets SOL), the system program; for a token also the vault's token account (writable), the
/// recipient's (writable), the Token program, and the recipient's associated account if it gave that away.
pub fn fill(input: &Input, data: &[u8]) -> Result<()> {
    let (account, recipient) = (input.account(1)?, input.account(3)?);
    let vault = account.state::<Vault>(input.program)?;
    vault.check_operator(input.account(0)?)?;
    if vault.is_paused != 0 {
        return Err(Error::Paused);
    }
    let is_native = input.count() == 5;
    let token: Key = if is_native { SYSTEM_PROGRAM } else { token_account(input.account(5)?)?.mint };

    let mut data = Reader(data);
    let order =
        FilledOrder::read(&mut data, &Destination { vault: account.key(), token: &token, recipient: recipient.key() })?;
    let amount = data.number()?;
    data.end()?;
    if now()? >= order.deadlines.fill {
        return Err(Error::FillExpired);
    }
    if amount < order.min_output.max(1) {
        return Err(Error::TooLittleDelivered);
    }
    let top_up = order.payable_top_up(recipient, if is_native { amount } else { 0 })?;
    vault.spend(&token, amount)?;
    vault.spend(&SYSTEM_PROGRAM, top_up)?;
    log(&[b"filled", &order.id, &amount.to_le_bytes(), &top_up.to_le_bytes()]);

    // All calls of other programs come before the vault's lamports move: the runtime compares sums at each call.
    let is_local = order.origin_chain_id == CHAIN_ID;
    if is_local {
        release_local(input, &order)?;
    } else {
        let record = create_record(input, &order, vault)?;
        record.state = FILLED;
        record.amount = amount;
        record.top_up = top_up;
    }
    if !is_native {
        let (from, to) = (input.account(5)?, input.account(6)?);
        check_holder(to, recipient.key(), &token, input.account(8).ok())?;
        send_token(vault, &Payment { account, from, to, amount })?;
    }
    if !is_local {
        pay_rent(account, input.account(2)?)?;
    }
    if is_native {
        send_native(account, recipient, amount)?;
    }
    send_native(account, recipient, top_up)
}

/// Closes an order from another chain for good: it can no longer be filled.
///
/// Accounts: operator (signs), vault (writable), record (writable), recipient, the system program, and the output's mint,
/// or the system program again for SOL.
pub fn void(input: &Input, data: &[u8]) -> Result<()> {
    let account = input.account(1)?;
    let vault = account.state::<Vault>(input.program)?;
    vault.check_operator(input.account(0)?)?;
    let (recipient, token) = (input.account(3)?, input.account(5)?);
    let mut data = Reader(data);
    let order = FilledOrder::read(
        &mut data,
        &Destination { vault: account.key(), token: token.key(), recipient: recipient.key() },
    )?;
    data.end()?;
    if order.origin_chain_id == CHAIN_ID {
        return Err(Error::WrongOrigin);
    }
    // Later a record may have been closed, and must not be made again with another content.
    if now()? >= order.deadlines.refund {
        return Err(Error::FillExpired);
    }
    create_record(input, &order, vault)?.state = VOIDED;
    log(&[b"voided", &order.id]);
    pay_rent(account, input.account(2)?)
}

/// Returns a record's rent to its vault once the record is no longer needed. Anyone may.
///
/// Accounts: record (writable), vault (writable).
pub fn close_record(input: &Input) -> Result<()> {
    let (account, vault) = (input.account(0)?, input.account(1)?);
    let record = account.state::<Record>(input.program)?;
    vault.is(&record.vault)?;
    if now()? < record.closable_at {
        return Err(Error::TooEarly);
    }
    account.close(vault)
}

/// The words of an order that the instruction's accounts determine.
struct Destination<'a> {
    vault: &'a Key,
    token: &'a Key,
    recipient: &'a Key,
}

/// The parts of an order that a fill or a void needs.
struct FilledOrder {
    id: Key,
    origin_chain_id: u64,
    escrow: Key,
    origin_vault: Key,
    min_output: u64,
    top_up: u64,
    deadlines: Deadlines,
}

impl FilledOrder {
    fn read(data: &mut Reader, destination: &Destination) -> Result<Self> {
        let mut words = Words::new();
        let origin_chain_id = data.number()?;
        words.put_number(Word::OriginChainId, origin_chain_id);
        words.put_number(Word::DestinationChainId, CHAIN_ID);
        let escrow = data.key()?;
        words.put(Word::Escrow, escrow);
        let origin_vault = data.key()?;
        words.put(Word::OriginVault, origin_vault);
        words.put(Word::DestinationVault, destination.vault);
        words.put(Word::AttesterSet, data.key()?);
        words.put(Word::Wallet, data.key()?);
        words.put(Word::InputToken, data.key()?);
        words.put(Word::InputAmount, data.array::<16>()?);
        words.put(Word::OutputToken, destination.token);
        let min_output = data.number()?;
        words.put_number(Word::MinOutput, min_output);
        words.put(Word::Recipient, destination.recipient);
        let top_up = data.number()?;
        words.put_number(Word::TopUp, top_up);
        words.put(Word::SwapKey, data.array::<16>()?);
        let deadlines = data.deadlines()?;
        words.put_deadlines(&deadlines);
        // A record of an order that lasts for ever would lock its rent for ever.
        deadlines.check(now()? + MAX_REFUND_DELAY_SECONDS + CLOCK_MARGIN_SECONDS)?;
        Ok(FilledOrder {
            id: words.id(),
            origin_chain_id,
            escrow: *escrow,
            origin_vault: *origin_vault,
            min_output,
            top_up,
            deadlines,
        })
    }

    /// Returns the top-up, or nothing if the recipient would have less than the rent of an empty account even with it:
    /// the runtime refuses such an account, and the recipient could make the fill fail at will.
    fn payable_top_up(&self, recipient: Account, delivered: u64) -> Result<u64> {
        let held = recipient.lamports().saturating_add(delivered).saturating_add(self.top_up);
        let is_payable = self.top_up > 0 && held >= rent_of(recipient.data_length() as u64)?;
        Ok(if is_payable { self.top_up } else { 0 })
    }
}

fn create_record(input: &Input, order: &FilledOrder, vault: &mut Vault) -> Result<&'static mut Record> {
    let account = input.account(2)?;
    let (address, bump) = find_address(&[Bytes::of(b"fill"), Bytes::of(&order.id)], input.program)?;
    if account.is(&address)?.is_owned_by(input.program) {
        return Err(Error::AlreadyDecided);
    }
    let seeds = [Bytes::of(b"fill"), Bytes::of(&order.id), Bytes::of(core::slice::from_ref(&bump))];
    // The rent counts in the cap of SOL, or an operator could lock all SOL of the vault in records.
    vault.spend(&SYSTEM_PROGRAM, missing_rent(account)?)?;
    let record = account.create_unpaid_state::<Record>(input.program, &seeds)?;
    record.vault = *input.account(1)?.key();
    record.closable_at = order.deadlines.refund + CLOCK_MARGIN_SECONDS;
    Ok(record)
}

/// Pays a new record's rent from the vault, less what someone sent to its address before.
fn pay_rent(vault: Account, record: Account) -> Result<()> {
    send_native(vault, record, missing_rent(record)?)
}

fn missing_rent(record: Account) -> Result<u64> {
    Ok(rent_of(size_of::<Record>() as u64)?.saturating_sub(record.lamports()))
}

/// On one chain, delivery and release are one. No attester is needed, so none can be wrong.
fn release_local(input: &Input, order: &FilledOrder) -> Result<()> {
    let opened = input.account(2)?.state::<Order>(input.program)?;
    if !same(&order.escrow, input.program) || !same(&order.origin_vault, input.account(1)?.key()) {
        return Err(Error::WrongOrigin);
    }
    if !same(&opened.id, &order.id) {
        return Err(Error::WrongAccount);
    }
    if opened.state != OPENED {
        return Err(Error::NotOpen);
    }
    opened.decide(RELEASED);
    Ok(())
}

struct Payment {
    account: Account,
    from: Account,
    to: Account,
    amount: u64,
}

fn send_token(vault: &Vault, payment: &Payment) -> Result<()> {
    let seeds = [
        Bytes::of(b"vault"),
        Bytes::of(&vault.creator),
        Bytes::of(core::slice::from_ref(&vault.index)),
        Bytes::of(core::slice::from_ref(&vault.bump)),
    ];
    let Payment { account, from, to, amount } = *payment;
    Transfer { from, to, authority: account, amount, signer: &seeds }.run()
}

/// Sends SOL of the vault, which keeps the rent of its own account.
fn send_native(vault: Account, to: Account, amount: u64) -> Result<()> {
    if amount == 0 {
        return Ok(());
    }
    let least = rent_of(size_of::<Vault>() as u64)?;
    if vault.lamports().saturating_sub(least) < amount {
        return Err(Error::InsufficientInventory);
    }
    vault.send_lamports(to, amount)
}
