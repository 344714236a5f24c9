//! Holds each order's input whole until the order is decided. There is no owner, no pause and no cap: all that can happen
//! to an order is fixed by its id, to whose account the wallet pays.
//!
//! An order's account holds its terms, and the input if that is SOL. A token input is in a token account of its own.
//! A transaction that opens an order has three instructions: `prepare` creates these accounts, the wallet transfers its
//! input to them, and `open` checks that it has arrived.
//!
//! Deciding an order and paying it are two instructions: an input that cannot be paid now (a frozen account, a wallet that
//! gave its token account away) stays in the order's own account, and its order stays decided.

use crate::attest::{digest, Attestation, REFUND_TYPEHASH, RELEASE_TYPEHASH};
use crate::order::{Reader, Word, Words, CHAIN_ID, MAX_REFUND_DELAY_SECONDS};
use crate::runtime::{
    address_of, find_address, log, now, rent_of, same, Account, Bytes, Input, Key, NewAccount, State, MAX_ACCOUNTS,
    SYSTEM_PROGRAM,
};
use crate::token::{self, check_holder, token_account, Transfer, TOKEN_ACCOUNT_SIZE, TOKEN_PROGRAM};
use crate::vault::Vault;
use crate::{Error, Result};
use core::mem::size_of;

/// The order's accounts exist, and its input may not have arrived.
const PREPARED: u8 = 0;
pub const OPENED: u8 = 1;
pub const RELEASED: u8 = 2;
const REFUNDED: u8 = 3;

/// The state of one order. Its address follows from the order's id, so that an order has one account at most.
#[repr(C)]
pub struct Order {
    tag: u8,
    pub state: u8,
    /// 1 once the input has left.
    is_paid: u8,
    /// 1 if the order also ends on Solana.
    is_local: u8,
    bump: u8,
    input_bump: u8,
    reserved: [u8; 2],
    amount: u64,
    open_deadline: u64,
    fill_deadline: u64,
    refund_after: u64,
    /// The lamports that the payer put into this account. The chain may ask for more or less later.
    rent: u64,
    pub id: Key,
    /// The account that paid the rent and gets it back.
    payer: Key,
    wallet: Key,
    pub vault: Key,
    attester_set: Key,
    /// The mint, or zero for SOL.
    token: Key,
}

unsafe impl State for Order {
    const TAG: u8 = 1;
}

const _: () = assert!(size_of::<Order>() == 240);

impl Order {
    fn is_native(&self) -> bool {
        same(&self.token, &SYSTEM_PROGRAM)
    }

    /// Checks that this is the order's account for a token input.
    fn check_input(&self, held: Account, program: &Key) -> Result<()> {
        let bump = core::slice::from_ref(&self.input_bump);
        held.is(&address_of(&[Bytes::of(b"input"), Bytes::of(&self.id), Bytes::of(bump)], program)?)?;
        Ok(())
    }

    /// Returns the lamports above the rent: the input, if that is SOL.
    fn lamports_above_rent(&self, account: Account) -> u64 {
        account.lamports().saturating_sub(self.rent)
    }

    /// Decides the order. The event is a hint for readers: a caller can fill the transaction's log so that it is cut.
    pub fn decide(&mut self, state: u8) {
        self.state = state;
        log(&[b"decided", core::slice::from_ref(&state), &self.id]);
    }
}

/// Creates the accounts of an order. Does nothing if they exist: a stranger who prepares an order first cannot prevent its
/// opening.
///
/// Accounts: payer (signs, writable), order (writable), the system program; for a token also the input's account
/// (writable), the mint, the Token program. The wallet is in the data only, because its signature must not reach this
/// program.
pub fn prepare(input: &Input, data: &[u8]) -> Result<()> {
    let payer = input.account(0)?.signed()?;
    let account = input.account(1)?;
    let is_native = input.count() == 3;
    let token: &Key = if is_native { &SYSTEM_PROGRAM } else { input.account(4)?.key() };

    let mut data = Reader(data);
    let mut words = Words::new();
    let destination_chain_id = data.number()?;
    words.put_number(Word::OriginChainId, CHAIN_ID);
    words.put_number(Word::DestinationChainId, destination_chain_id);
    words.put(Word::Escrow, input.program);
    let wallet = data.key()?;
    words.put(Word::Wallet, wallet);
    let vault = data.key()?;
    words.put(Word::OriginVault, vault);
    words.put(Word::DestinationVault, data.key()?);
    let attester_set = data.key()?;
    words.put(Word::AttesterSet, attester_set);
    words.put(Word::InputToken, token);
    let amount = data.number()?;
    words.put_number(Word::InputAmount, amount);
    words.put(Word::OutputToken, data.key()?);
    let min_output = data.array::<16>()?;
    words.put(Word::MinOutput, min_output);
    words.put(Word::Recipient, data.key()?);
    words.put(Word::TopUp, data.array::<16>()?);
    words.put(Word::SwapKey, data.array::<16>()?);
    let deadlines = data.deadlines()?;
    words.put_deadlines(&deadlines);
    data.end()?;

    let now = now()?;
    deadlines.check(now + MAX_REFUND_DELAY_SECONDS)?;
    if now > deadlines.open {
        return Err(Error::InvalidDeadlines);
    }
    if amount == 0 || *min_output == [0; 16] {
        return Err(Error::InvalidAmount);
    }
    if same(token, &token::WRAPPED_SOL) {
        return Err(Error::UnsupportedMint);
    }
    // The payer's signature reaches this program, and the wallet's must not.
    if same(payer.key(), wallet) {
        return Err(Error::WrongAccount);
    }

    let id = words.id();
    let (address, bump) = find_address(&[Bytes::of(b"order"), Bytes::of(&id)], input.program)?;
    if account.is(&address)?.is_owned_by(input.program) {
        return if account.state::<Order>(input.program)?.state == PREPARED {
            Ok(())
        } else {
            Err(Error::AlreadyOpened)
        };
    }
    let seeds = [Bytes::of(b"order"), Bytes::of(&id), Bytes::of(core::slice::from_ref(&bump))];
    let order = account.create_state::<Order>(payer, input.program, &seeds)?;
    order.is_local = (destination_chain_id == CHAIN_ID) as u8;
    order.bump = bump;
    order.amount = amount;
    order.open_deadline = deadlines.open;
    order.fill_deadline = deadlines.fill;
    order.refund_after = deadlines.refund;
    order.rent = rent_of(size_of::<Order>() as u64)?;
    order.id = id;
    order.payer = *payer.key();
    order.wallet = *wallet;
    order.vault = *vault;
    order.attester_set = *attester_set;
    order.token = *token;
    if is_native {
        return Ok(());
    }

    let (held, mint) = (input.account(3)?, input.account(4)?);
    let (address, bump) = find_address(&[Bytes::of(b"input"), Bytes::of(&id)], input.program)?;
    held.is(&address)?;
    order.input_bump = bump;
    let seeds = [Bytes::of(b"input"), Bytes::of(&id), Bytes::of(core::slice::from_ref(&bump))];
    held.create(payer, &NewAccount { size: TOKEN_ACCOUNT_SIZE, owner: &TOKEN_PROGRAM, seeds: &seeds })?;
    token::initialize(held, mint, account.key())
}

/// Opens a prepared order once its input has arrived. Anyone may.
///
/// Accounts: order (writable); for a token also the input's account.
pub fn open(input: &Input) -> Result<()> {
    let account = input.account(0)?;
    let order = account.state::<Order>(input.program)?;
    if order.state != PREPARED {
        return Err(Error::AlreadyOpened);
    }
    if now()? > order.open_deadline {
        return Err(Error::InvalidDeadlines);
    }
    let arrived = if order.is_native() {
        order.lamports_above_rent(account)
    } else {
        let held = input.account(1)?;
        order.check_input(held, input.program)?;
        token_account(held)?.amount()
    };
    if arrived < order.amount {
        return Err(Error::NotFunded);
    }
    order.state = OPENED;
    log(&[b"opened", &order.id]);
    Ok(())
}

/// Decides orders by an attestation: released if the first byte of the data is 2, refunded if it is 3. Skips orders that
/// are not open, that have another set of attesters, or that are released by their fill; fails if it skips all.
///
/// Accounts: the orders (writable), in the sequence in which the attesters signed their ids. In place of an order whose
/// account is closed any other account may stand. Its id then follows the attestation in the data.
pub fn decide(input: &Input, data: &[u8]) -> Result<()> {
    let mut data = Reader(data);
    let decision = data.byte()?;
    let attestation = Attestation::read(&mut data)?;
    let typehash = match decision {
        RELEASED => &RELEASE_TYPEHASH,
        REFUNDED => &REFUND_TYPEHASH,
        _ => return Err(Error::UnknownInstruction),
    };
    let set = attestation.set_hash();
    let mut ids = [Bytes::of(&[]); MAX_ACCOUNTS];
    let mut is_any_decided = false;
    for (id, account) in ids.iter_mut().zip(input.all()) {
        let Ok(order) = account.state::<Order>(input.program) else {
            *id = Bytes::of(data.key()?);
            continue;
        };
        let is_decided_here =
            order.state == OPENED && same(&order.attester_set, &set) && !(decision == RELEASED && order.is_local != 0);
        // An account that is named twice is not open the second time.
        if is_decided_here {
            order.decide(decision);
            is_any_decided = true;
        }
        *id = Bytes::of(&order.id);
    }
    data.end()?;
    if !is_any_decided {
        return Err(Error::NotOpen);
    }
    attestation.check(&digest(input.program, typehash, &ids[..input.count()]))
}

/// Decides that an order is refunded, without attesters. Anyone may from `refundAfter` on. For an order that also ends on
/// Solana anyone may from its fill deadline on, and an operator of its vault at any time. An order that was prepared and
/// not opened in time is refunded with all that has arrived.
///
/// Accounts: order (writable); optionally the order's vault and one of its operators (signs).
pub fn expire(input: &Input) -> Result<()> {
    let order = input.account(0)?.state::<Order>(input.program)?;
    let now = now()?;
    let is_due = match order.state {
        PREPARED => now > order.open_deadline,
        OPENED => now >= order.refund_after || (order.is_local != 0 && now >= order.fill_deadline),
        _ => return Err(Error::NotOpen),
    };
    if !is_due {
        if order.state != OPENED || order.is_local == 0 || input.count() != 3 {
            return Err(Error::TooEarly);
        }
        let vault = input.account(1)?.is(&order.vault)?.state::<Vault>(input.program)?;
        vault.check_operator(input.account(2)?)?;
    }
    order.decide(REFUNDED);
    Ok(())
}

/// Pays a decided order's input to its vault or its wallet. Anyone may. SOL that arrives later is paid by another call.
///
/// The account that paid the rent has no part in it, so that it cannot keep a payment from being made.
///
/// Accounts: order (writable), beneficiary (writable); for a token also the input's account (writable) and the Token
/// program. The beneficiary of a token is the associated account of the vault or the wallet. If the wallet gave that
/// account away, it stands in the fifth place, and the beneficiary is any account of the wallet's.
pub fn pay(input: &Input) -> Result<()> {
    let (account, to) = (input.account(0)?, input.account(1)?);
    let order = account.state::<Order>(input.program)?;
    let beneficiary = match order.state {
        RELEASED => order.vault,
        REFUNDED => order.wallet,
        _ => return Err(Error::NotDecided),
    };
    if order.is_native() {
        // All of it: an order that was never opened holds any amount, and a stranger may have sent something.
        let amount = order.lamports_above_rent(account);
        if order.is_paid != 0 && amount == 0 {
            return Err(Error::AlreadyPaid);
        }
        order.is_paid = 1;
        return account.send_lamports(to.is(&beneficiary)?, amount);
    }
    if order.is_paid != 0 {
        return Err(Error::AlreadyPaid);
    }
    order.is_paid = 1;
    let held = input.account(2)?;
    order.check_input(held, input.program)?;
    let signer = [Bytes::of(b"order"), Bytes::of(&order.id), Bytes::of(core::slice::from_ref(&order.bump))];
    // All of it, so that a stranger who sent a unit more cannot keep the account from being closed.
    let amount = token_account(held)?.amount();
    // An order that was prepared and never paid for has nothing, and its wallet may have no account.
    if amount > 0 {
        check_holder(to, &beneficiary, &order.token, input.account(4).ok())?;
        Transfer { from: held, to, authority: account, amount, signer: &signer }.run()?;
    }
    // The rent waits in the order's account.
    token::close(held, account, account, &signer)
}

/// Closes the account of an order that was paid, and returns all rent. Anyone may, once the open deadline has passed: until
/// then the same order could be opened again.
///
/// Accounts: order (writable), payer (writable).
pub fn close(input: &Input) -> Result<()> {
    let (account, payer) = (input.account(0)?, input.account(1)?);
    let order = account.state::<Order>(input.program)?;
    payer.is(&order.payer)?;
    // SOL that arrived after the payment is the beneficiary's.
    if order.is_paid == 0 || (order.is_native() && order.lamports_above_rent(account) > 0) {
        return Err(Error::NotPaid);
    }
    if now()? <= order.open_deadline {
        return Err(Error::TooEarly);
    }
    account.close(payer)
}
