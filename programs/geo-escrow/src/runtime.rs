//! All unsafe code: Solana's syscalls, and the memory in which the loader passes accounts.

use crate::{Error, Result};
use core::marker::PhantomData;
use core::mem::size_of;
use core::ptr;

pub type Key = [u8; 32];

pub const SYSTEM_PROGRAM: Key = [0; 32];

/// Declares Solana's syscalls. SBPF v3 calls them by a number, the hash of the name; older versions link them by name.
/// Debian's compiler has the target `bpfel-unknown-none`, Solana's `sbpfv3-solana-solana` has the feature.
macro_rules! syscalls {
    ($($name:ident($($arg:ident: $type:ty),*) -> $ret:ty;)*) => {
        #[cfg(any(target_os = "none", target_feature = "static-syscalls"))]
        mod syscall {
            use super::*;
            $(pub unsafe fn $name($($arg: $type),*) -> $ret {
                const NUMBER: usize = super::murmur3(stringify!($name).as_bytes()) as usize;
                let function: extern "C" fn($($type),*) -> $ret = core::mem::transmute(NUMBER);
                function($($arg),*)
            })*
        }
        #[cfg(not(any(target_os = "none", target_feature = "static-syscalls")))]
        mod syscall {
            use super::*;
            extern "C" { $(pub fn $name($($arg: $type),*) -> $ret;)* }
        }
    };
}

syscalls! {
    abort() -> !;
    sol_get_clock_sysvar(clock: *mut Clock) -> u64;
    sol_get_rent_sysvar(rent: *mut Rent) -> u64;
    sol_log_data(fields: *const Bytes, count: u64) -> u64;
    sol_keccak256(parts: *const Bytes, count: u64, hash: *mut Key) -> u64;
    sol_secp256k1_recover(digest: *const Key, recovery: u64, signature: *const u8, public_key: *mut u8) -> u64;
    sol_create_program_address(seeds: *const Bytes, count: u64, program: *const Key, address: *mut Key) -> u64;
    sol_try_find_program_address(seeds: *const Bytes, count: u64, program: *const Key, address: *mut Key, bump: *mut u8) -> u64;
    sol_invoke_signed_c(call: *const RawCall, accounts: *const RawAccount, count: u64, signers: *const RawSigner, signer_count: u64) -> u64;
}

#[cfg(any(target_os = "none", target_feature = "static-syscalls"))]
const fn murmur3(name: &[u8]) -> u32 {
    let mut hash = 0u32;
    let mut i = 0;
    while i < name.len() {
        let mut word = name[i] as u32;
        let mut j = 1;
        while j < 4 && i + j < name.len() {
            word |= (name[i + j] as u32) << (8 * j);
            j += 1;
        }
        hash ^= word.wrapping_mul(0xcc9e2d51).rotate_left(15).wrapping_mul(0x1b873593);
        if j == 4 {
            hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xe6546b64);
        }
        i += 4;
    }
    hash ^= name.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85ebca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2ae35);
    hash ^ (hash >> 16)
}

#[repr(C)]
struct Clock {
    slot: u64,
    epoch_start: i64,
    epoch: u64,
    leader_schedule_epoch: u64,
    unix_timestamp: i64,
}

#[repr(C)]
struct Rent {
    lamports_per_byte: u64,
    /// A float, kept as its bits: programs have no floating point.
    exemption_threshold: u64,
    burn_percent: u8,
}

/// Bytes as Solana's syscalls take them.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Bytes<'a> {
    at: *const u8,
    length: u64,
    of: PhantomData<&'a [u8]>,
}

impl<'a> Bytes<'a> {
    pub fn of(bytes: &'a [u8]) -> Self {
        Bytes { at: bytes.as_ptr(), length: bytes.len() as u64, of: PhantomData }
    }
}

pub fn abort() -> ! {
    unsafe { syscall::abort() }
}

/// Returns the cluster's time in unix seconds.
pub fn now() -> Result<u64> {
    let mut clock = Clock { slot: 0, epoch_start: 0, epoch: 0, leader_schedule_epoch: 0, unix_timestamp: 0 };
    if unsafe { syscall::sol_get_clock_sysvar(&mut clock) } != 0 || clock.unix_timestamp < 0 {
        return Err(Error::SyscallFailed);
    }
    Ok(clock.unix_timestamp as u64)
}

/// Writes an event to the transaction's log: its name and its fields.
pub fn log<const N: usize>(fields: &[&[u8]; N]) {
    let fields = fields.map(Bytes::of);
    // Fails only for addresses outside the program's memory.
    unsafe { syscall::sol_log_data(fields.as_ptr(), N as u64) };
}

/// Returns the lamports that an account of this size must hold.
pub fn rent_of(size: u64) -> Result<u64> {
    let mut rent = Rent { lamports_per_byte: 0, exemption_threshold: 0, burn_percent: 0 };
    if unsafe { syscall::sol_get_rent_sysvar(&mut rent) } != 0 || rent.lamports_per_byte > u32::MAX as u64 {
        return Err(Error::SyscallFailed);
    }
    // Cannot overflow: sizes are below 2^24 here, and the factor is below 2^32.
    let lamports = (size + 128).wrapping_mul(rent.lamports_per_byte);
    match rent.exemption_threshold {
        0x3ff0_0000_0000_0000 => Ok(lamports), // 1.0, since SIMD-0194
        _ => Ok(lamports * 2),                 // 2.0, before
    }
}

pub fn keccak256(parts: &[Bytes]) -> Key {
    let mut hash = [0; 32];
    // Fails only for addresses outside the program's memory.
    unsafe { syscall::sol_keccak256(parts.as_ptr(), parts.len() as u64, &mut hash) };
    hash
}

/// Returns the public key that made a signature, `r` and `s` followed by Ethereum's `v`.
pub fn recover(digest: &Key, signature: &[u8; 65]) -> Option<[u8; 64]> {
    let mut public_key = [0; 64];
    let recovery = signature[64].wrapping_sub(27) as u64;
    let result =
        unsafe { syscall::sol_secp256k1_recover(digest, recovery, signature.as_ptr(), public_key.as_mut_ptr()) };
    if result == 0 {
        Some(public_key)
    } else {
        None
    }
}

/// Returns the one address that the runtime considers derived from these seeds, and its bump.
pub fn find_address(seeds: &[Bytes], program: &Key) -> Result<(Key, u8)> {
    let (mut address, mut bump) = ([0; 32], 0);
    let result = unsafe {
        syscall::sol_try_find_program_address(seeds.as_ptr(), seeds.len() as u64, program, &mut address, &mut bump)
    };
    if result == 0 {
        Ok((address, bump))
    } else {
        Err(Error::WrongAccount)
    }
}

/// Returns the address of these seeds, the last of which is the bump.
pub fn address_of(seeds: &[Bytes], program: &Key) -> Result<Key> {
    let mut address = [0; 32];
    let result =
        unsafe { syscall::sol_create_program_address(seeds.as_ptr(), seeds.len() as u64, program, &mut address) };
    if result == 0 {
        Ok(address)
    } else {
        Err(Error::WrongAccount)
    }
}

/// One account of the instruction: a place in the loader's memory.
#[derive(Clone, Copy)]
pub struct Account(*mut u8);

// Offsets in the loader's memory. An account's data is followed by spare room, then by its rent epoch.
const IS_SIGNER: usize = 1;
const IS_WRITABLE: usize = 2;
const IS_EXECUTABLE: usize = 3;
const KEY: usize = 8;
const OWNER: usize = 40;
const LAMPORTS: usize = 72;
const DATA_LENGTH: usize = 80;
const DATA: usize = 88;
const SPARE_ROOM: usize = 10_240;
const NOT_A_DUPLICATE: u8 = 0xff;

/// A type whose bytes are an account's data. Any bytes must be a valid value.
///
/// # Safety
/// Implement it only for `repr(C)` types of integers and arrays of them, with no padding.
pub unsafe trait State {
    /// The first byte of the data, which no other type has.
    const TAG: u8;
}

impl Account {
    fn flag(self, offset: usize) -> bool {
        unsafe { *self.0.add(offset) != 0 }
    }

    pub fn is_signer(self) -> bool {
        self.flag(IS_SIGNER)
    }

    pub fn is_writable(self) -> bool {
        self.flag(IS_WRITABLE)
    }

    pub fn signed(self) -> Result<Self> {
        if self.is_signer() {
            Ok(self)
        } else {
            Err(Error::MissingSignature)
        }
    }

    pub fn key(self) -> &'static Key {
        unsafe { &*(self.0.add(KEY) as *const Key) }
    }

    pub fn is(self, key: &Key) -> Result<Self> {
        if same(self.key(), key) {
            Ok(self)
        } else {
            Err(Error::WrongAccount)
        }
    }

    pub fn is_owned_by(self, program: &Key) -> bool {
        same(unsafe { &*(self.0.add(OWNER) as *const Key) }, program)
    }

    pub fn lamports(self) -> u64 {
        unsafe { *(self.0.add(LAMPORTS) as *const u64) }
    }

    fn set_lamports(self, lamports: u64) {
        unsafe { *(self.0.add(LAMPORTS) as *mut u64) = lamports }
    }

    pub fn data_length(self) -> usize {
        unsafe { *(self.0.add(DATA_LENGTH) as *const u64) as usize }
    }

    /// Returns the data of an account that is not this program's, if it has exactly this size.
    pub fn foreign<T>(self, owner: &Key) -> Result<&'static T> {
        if !self.is_owned_by(owner) || self.data_length() != size_of::<T>() {
            return Err(Error::WrongOwner);
        }
        Ok(unsafe { &*(self.0.add(DATA) as *const T) })
    }

    /// Returns the state of an account that this program created. An account that is named twice has one state: a caller
    /// must not use what it read through the first reference after it has written through the second.
    pub fn state<T: State>(self, program: &Key) -> Result<&'static mut T> {
        if !self.is_owned_by(program) || self.data_length() != size_of::<T>() || unsafe { *self.0.add(DATA) } != T::TAG
        {
            return Err(Error::WrongOwner);
        }
        Ok(unsafe { &mut *(self.0.add(DATA) as *mut T) })
    }

    /// Moves lamports out of an account of this program.
    pub fn send_lamports(self, to: Account, amount: u64) -> Result<()> {
        self.set_lamports(self.lamports().checked_sub(amount).ok_or(Error::InsufficientInventory)?);
        to.set_lamports(to.lamports().checked_add(amount).ok_or(Error::Overflow)?);
        Ok(())
    }

    /// Ends an account of this program. Its data is gone even if someone sends it lamports in the same transaction.
    pub fn close(self, rent_to: Account) -> Result<()> {
        self.send_lamports(rent_to, self.lamports())?;
        unsafe {
            *self.0.add(DATA) = 0;
            *(self.0.add(DATA_LENGTH) as *mut u64) = 0;
            *(self.0.add(OWNER) as *mut Key) = SYSTEM_PROGRAM;
        }
        Ok(())
    }

    /// Creates a program's account at a derived address. The payer pays the whole rent even if someone has sent lamports
    /// there: those are not the payer's.
    pub fn create(self, payer: Account, new: &NewAccount) -> Result<()> {
        transfer_lamports(payer, self, rent_of(new.size)?)?;
        self.allocate(new)
    }

    /// Gives a derived address data of this size and an owner. Its rent must be there when the transaction ends.
    fn allocate(self, new: &NewAccount) -> Result<()> {
        let mut allocate = [8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        allocate[4..].copy_from_slice(&new.size.to_le_bytes());
        Call { program: &SYSTEM_PROGRAM, accounts: &[self.signs()], data: &allocate, signer: new.seeds }.run()?;
        let mut assign = [0; 36];
        assign[0] = 1;
        assign[4..].copy_from_slice(new.owner);
        Call { program: &SYSTEM_PROGRAM, accounts: &[self.signs()], data: &assign, signer: new.seeds }.run()
    }

    /// Creates an account of this program, and returns its state with nothing but the tag in it.
    pub fn create_state<T: State>(self, payer: Account, program: &Key, seeds: &[Bytes]) -> Result<&'static mut T> {
        self.create(payer, &NewAccount { size: size_of::<T>() as u64, owner: program, seeds })?;
        self.new_state(program)
    }

    /// Creates an account of this program without its rent, which the caller must add in the same instruction.
    pub fn create_unpaid_state<T: State>(self, program: &Key, seeds: &[Bytes]) -> Result<&'static mut T> {
        self.allocate(&NewAccount { size: size_of::<T>() as u64, owner: program, seeds })?;
        self.new_state(program)
    }

    fn new_state<T: State>(self, program: &Key) -> Result<&'static mut T> {
        unsafe { *self.0.add(DATA) = T::TAG };
        self.state(program)
    }

    pub fn reads(self) -> Role {
        Role { account: self, is_writable: false, is_signer: false }
    }

    pub fn writes(self) -> Role {
        Role { account: self, is_writable: true, is_signer: false }
    }

    pub fn agrees(self) -> Role {
        Role { account: self, is_writable: false, is_signer: true }
    }

    pub fn signs(self) -> Role {
        Role { account: self, is_writable: true, is_signer: true }
    }
}

/// The size and owner of an account to be created, and the seeds of its address.
pub struct NewAccount<'a> {
    pub size: u64,
    pub owner: &'a Key,
    pub seeds: &'a [Bytes<'a>],
}

/// Moves lamports of a payer that signed the transaction.
fn transfer_lamports(from: Account, to: Account, amount: u64) -> Result<()> {
    let mut data = [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    data[4..].copy_from_slice(&amount.to_le_bytes());
    Call { program: &SYSTEM_PROGRAM, accounts: &[from.signs(), to.writes()], data: &data, signer: &[] }.run()
}

pub fn same(a: &Key, b: &Key) -> bool {
    let word = |key: &Key, i: usize| unsafe { ptr::read_unaligned(key.as_ptr().add(i * 8) as *const u64) };
    let difference = |i| word(a, i) ^ word(b, i);
    difference(0) | difference(1) | difference(2) | difference(3) == 0
}

/// An account in a call, and whether the called program may write it or count it as a signer.
#[derive(Clone, Copy)]
pub struct Role {
    account: Account,
    is_writable: bool,
    is_signer: bool,
}

/// A call of another program. `signer` has the seeds of the derived address that signs, or nothing.
pub struct Call<'a> {
    pub program: &'a Key,
    pub accounts: &'a [Role],
    pub data: &'a [u8],
    pub signer: &'a [Bytes<'a>],
}

const MAX_CALL_ACCOUNTS: usize = 3;

impl Call<'_> {
    pub fn run(&self) -> Result<()> {
        if self.accounts.len() > MAX_CALL_ACCOUNTS {
            return Err(Error::WrongAccountCount);
        }
        const NO_ROLE: RawRole = RawRole { key: ptr::null(), is_writable: false, is_signer: false };
        let mut roles = [NO_ROLE; MAX_CALL_ACCOUNTS];
        let mut accounts = [RawAccount::NONE; MAX_CALL_ACCOUNTS];
        for (i, role) in self.accounts.iter().enumerate() {
            roles[i] = RawRole { key: role.account.key(), is_writable: role.is_writable, is_signer: role.is_signer };
            accounts[i] = RawAccount::of(role.account);
        }
        let call = RawCall {
            program: self.program,
            roles: roles.as_ptr(),
            role_count: self.accounts.len() as u64,
            data: self.data.as_ptr(),
            data_length: self.data.len() as u64,
        };
        let signer = RawSigner { seeds: self.signer.as_ptr() as *const u8, count: self.signer.len() as u64 };
        let signer_count = if self.signer.is_empty() { 0 } else { 1 };
        let count = self.accounts.len() as u64;
        match unsafe { syscall::sol_invoke_signed_c(&call, accounts.as_ptr(), count, &signer, signer_count) } {
            0 => Ok(()),
            _ => Err(Error::SyscallFailed),
        }
    }
}

#[repr(C)]
struct RawCall {
    program: *const Key,
    roles: *const RawRole,
    role_count: u64,
    data: *const u8,
    data_length: u64,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct RawRole {
    key: *const Key,
    is_writable: bool,
    is_signer: bool,
}

#[repr(C)]
struct RawSigner {
    seeds: *const u8,
    count: u64,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct RawAccount {
    key: *const u8,
    lamports: *mut u8,
    data_length: u64,
    data: *mut u8,
    owner: *const u8,
    rent_epoch: u64,
    is_signer: bool,
    is_writable: bool,
    is_executable: bool,
}

impl RawAccount {
    const NONE: Self = RawAccount {
        key: ptr::null(),
        lamports: ptr::null_mut(),
        data_length: 0,
        data: ptr::null_mut(),
        owner: ptr::null(),
        rent_epoch: 0,
        is_signer: false,
        is_writable: false,
        is_executable: false,
    };

    fn of(account: Account) -> Self {
        let Account(at) = account;
        unsafe {
            RawAccount {
                key: at.add(KEY),
                lamports: at.add(LAMPORTS),
                data_length: account.data_length() as u64,
                data: at.add(DATA),
                owner: at.add(OWNER),
                rent_epoch: u64::MAX,
                is_signer: account.is_signer(),
                is_writable: account.is_writable(),
                is_executable: account.flag(IS_EXECUTABLE),
            }
        }
    }
}

pub const MAX_ACCOUNTS: usize = 24;

/// One instruction: its accounts, its data, and the address at which this program is deployed.
pub struct Input {
    accounts: [Account; MAX_ACCOUNTS],
    count: usize,
    pub data: &'static [u8],
    pub program: &'static Key,
}

impl Input {
    /// Reads the loader's memory. An account that is named twice is the same place both times.
    ///
    /// # Safety
    /// `at` must be what the loader passed to the entry point.
    pub unsafe fn parse(at: *mut u8) -> Result<Self> {
        let count = *(at as *const u64) as usize;
        if count > MAX_ACCOUNTS {
            return Err(Error::WrongAccountCount);
        }
        let mut accounts = [Account(at); MAX_ACCOUNTS];
        let mut next = at.add(8);
        for i in 0..count {
            if *next == NOT_A_DUPLICATE {
                accounts[i] = Account(next);
                let padded = (accounts[i].data_length() + 7) & !7;
                next = next.add(DATA + padded + SPARE_ROOM + 8);
            } else {
                accounts[i] = accounts[*next as usize];
                next = next.add(8);
            }
        }
        let length = *(next as *const u64) as usize;
        let data = core::slice::from_raw_parts(next.add(8), length);
        Ok(Input { accounts, count, data, program: &*(next.add(8 + length) as *const Key) })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn all(&self) -> &[Account] {
        &self.accounts[..self.count]
    }

    pub fn account(&self, i: usize) -> Result<Account> {
        if i < self.count {
            Ok(self.accounts[i])
        } else {
            Err(Error::WrongAccountCount)
        }
    }
}
