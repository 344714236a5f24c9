//! An order's terms and its id, the EIP-712 struct hash that the contracts and `packages/protocol` compute as well.

use crate::attest::hex;
use crate::runtime::{keccak256, Bytes, Key};
use crate::{Error, Result};

/// Solana's chain id in orders.
pub const CHAIN_ID: u64 = 792_703_809;

/// No order can keep an input longer than this after it was opened.
pub const MAX_REFUND_DELAY_SECONDS: u64 = 3 * 24 * 60 * 60;

/// keccak256("Order(address wallet,address inputToken,…,uint256 refundAfter)"), the type of the contracts. An address
/// is encoded as its word, and on Solana every key is a word.
const ORDER_TYPEHASH: Key = hex(b"1d0374db00f8c525cd7c47e9ec14ef0ebfb041141d33a47001c9a2a6ce7604eb");

const WORD_COUNT: usize = 18;

/// The type hash and the order's seventeen words, each 32 bytes, big-endian.
pub struct Words([u8; WORD_COUNT * 32]);

#[derive(Clone, Copy)]
#[repr(usize)]
pub enum Word {
    Wallet = 1,
    InputToken,
    InputAmount,
    OriginChainId,
    DestinationChainId,
    OutputToken,
    MinOutput,
    Recipient,
    TopUp,
    Escrow,
    OriginVault,
    DestinationVault,
    AttesterSet,
    SwapKey,
    OpenDeadline,
    FillDeadline,
    RefundAfter,
}

impl Words {
    pub fn new() -> Self {
        let mut words = Words([0; WORD_COUNT * 32]);
        words.0[..32].copy_from_slice(&ORDER_TYPEHASH);
        words
    }

    /// Writes bytes at the end of a word. The bytes before stay zero.
    #[inline(always)]
    pub fn put(&mut self, word: Word, bytes: &[u8]) {
        let end = (word as usize + 1) * 32;
        self.0[end - bytes.len()..end].copy_from_slice(bytes);
    }

    pub fn put_number(&mut self, word: Word, number: u64) {
        self.put(word, &number.to_be_bytes());
    }

    pub fn put_deadlines(&mut self, deadlines: &Deadlines) {
        self.put_number(Word::OpenDeadline, deadlines.open);
        self.put_number(Word::FillDeadline, deadlines.fill);
        self.put_number(Word::RefundAfter, deadlines.refund);
    }

    pub fn id(&self) -> Key {
        keccak256(&[Bytes::of(&self.0)])
    }
}

/// Unix seconds. `open` is the last second to open the order, `fill` the first in which it can no longer be filled,
/// `refund` the first in which anyone may refund it.
#[derive(Clone, Copy)]
pub struct Deadlines {
    pub open: u64,
    pub fill: u64,
    pub refund: u64,
}

impl Deadlines {
    /// Checks that the deadlines follow each other, and that the last one is not later than this.
    pub fn check(&self, latest: u64) -> Result<()> {
        if self.open < self.fill && self.fill < self.refund && self.refund <= latest {
            Ok(())
        } else {
            Err(Error::InvalidDeadlines)
        }
    }
}

/// Reads an instruction's data from start to end.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    #[inline(always)]
    pub fn bytes(&mut self, length: usize) -> Result<&'a [u8]> {
        if length > self.0.len() {
            return Err(Error::WrongDataLength);
        }
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        Ok(bytes)
    }

    #[inline(always)]
    pub fn array<const N: usize>(&mut self) -> Result<&'a [u8; N]> {
        self.bytes(N)?.try_into().map_err(|_| Error::WrongDataLength)
    }

    #[inline(always)]
    pub fn key(&mut self) -> Result<&'a Key> {
        self.array()
    }

    #[inline(always)]
    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    #[inline(always)]
    pub fn number(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(*self.array()?))
    }

    #[inline(always)]
    pub fn deadlines(&mut self) -> Result<Deadlines> {
        Ok(Deadlines { open: self.number()?, fill: self.number()?, refund: self.number()? })
    }

    #[inline(always)]
    pub fn end(self) -> Result<()> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Error::WrongDataLength)
        }
    }
}
