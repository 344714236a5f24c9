//! Attesters' signatures: EIP-712 as on EVM chains, by the same keys. The domain has this program's address as `salt`
//! in place of a `verifyingContract`.

use crate::order::{Reader, CHAIN_ID};
use crate::runtime::{keccak256, recover, Bytes, Key};
use crate::{Error, Result};

/// keccak256("EIP712Domain(string name,string version,uint256 chainId,bytes32 salt)")
const DOMAIN_TYPEHASH: Key = hex(b"a604fff5a27d5951f334ccda7abff3286a8af29caeeb196a6f2b40a1dce7612b");
/// keccak256("Geoswap")
const NAME_HASH: Key = hex(b"781bf1db4faacfd5f2a8cb7aefb45af1286237a11d042a5d42ce551ae172a59c");
/// keccak256("1")
const VERSION_HASH: Key = hex(b"c89efdaa54c0f20c7adf612882df0950f5a951637e0307cdcb4c672f298b8bc6");
/// keccak256("Release(bytes32[] orderIds)")
pub const RELEASE_TYPEHASH: Key = hex(b"2665955d120e2a8c65ae4d86fc6ec18fab28228e17799f15fe8ad2902bd6c712");
/// keccak256("Refund(bytes32[] orderIds)")
pub const REFUND_TYPEHASH: Key = hex(b"ab8d60ac9d33566e05c0419278633693b8fa566b42a682613db5127c922cf770");

const MAX_ATTESTERS: usize = 16;
/// Half of the curve's order. A signature with a higher `s` is the mirror image of another one.
const MAX_S: Key = hex(b"7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0");

/// A set of attesters and the signatures of some of them, as an instruction carries them.
pub struct Attestation<'a> {
    threshold: u8,
    attesters: &'a [u8],
    signatures: &'a [u8],
}

impl<'a> Attestation<'a> {
    pub fn read(data: &mut Reader<'a>) -> Result<Self> {
        let threshold = data.byte()?;
        let count = data.byte()? as usize;
        if count > MAX_ATTESTERS {
            return Err(Error::WrongAttesterSet);
        }
        let attesters = data.bytes(count * 20)?;
        let signature_count = data.byte()? as usize;
        Ok(Attestation { threshold, attesters, signatures: data.bytes(signature_count * 65)? })
    }

    /// Returns the hash that an order carries for its attesters: keccak256(abi.encode(threshold, attesters)).
    pub fn set_hash(&self) -> Key {
        let mut words = [0; (3 + MAX_ATTESTERS) * 32];
        let count = self.attesters.len() / 20;
        words[31] = self.threshold;
        words[32 + 31] = 0x40;
        words[64 + 31] = count as u8;
        for (word, attester) in words[96..].chunks_exact_mut(32).zip(self.attesters.chunks_exact(20)) {
            word[12..].copy_from_slice(attester);
        }
        keccak256(&[Bytes::of(&words[..(3 + count) * 32])])
    }

    /// Checks that enough different attesters of the set signed. Signatures are in the ascending order of their signers.
    pub fn check(&self, digest: &Key) -> Result<()> {
        if self.threshold == 0 || self.signatures.len() / 65 < self.threshold as usize {
            return Err(Error::ThresholdNotMet);
        }
        let mut previous = [0; 20];
        let mut left = self.attesters.chunks_exact(20);
        for signature in self.signatures.chunks_exact(65) {
            let signature: &[u8; 65] = signature.try_into().map_err(|_| Error::InvalidAttester)?;
            if signature[32..64] > MAX_S[..] {
                return Err(Error::InvalidAttester);
            }
            let public_key = recover(digest, signature).ok_or(Error::InvalidAttester)?;
            let hash = keccak256(&[Bytes::of(&public_key)]);
            let mut signer = [0; 20];
            signer.copy_from_slice(&hash[12..]);
            // Strictly ascending: no signer counts twice, even if the set names it twice.
            if signer <= previous || !left.any(|attester| attester == signer) {
                return Err(Error::InvalidAttester);
            }
            previous = signer;
        }
        Ok(())
    }
}

/// Returns the digest that attesters sign about these orders.
pub fn digest(program: &Key, typehash: &Key, order_ids: &[Bytes]) -> Key {
    let mut chain_id = [0; 32];
    chain_id[24..].copy_from_slice(&CHAIN_ID.to_be_bytes());
    let domain = keccak256(&[
        Bytes::of(&DOMAIN_TYPEHASH),
        Bytes::of(&NAME_HASH),
        Bytes::of(&VERSION_HASH),
        Bytes::of(&chain_id),
        Bytes::of(program),
    ]);
    let ids = keccak256(order_ids);
    let statement = keccak256(&[Bytes::of(typehash), Bytes::of(&ids)]);
    keccak256(&[Bytes::of(&[0x19, 0x01]), Bytes::of(&domain), Bytes::of(&statement)])
}

/// Reads 64 hexadecimal digits, at compile time.
pub const fn hex(text: &[u8; 64]) -> Key {
    const fn digit(character: u8) -> u8 {
        match character {
            b'0'..=b'9' => character - b'0',
            _ => character - b'a' + 10,
        }
    }
    let mut bytes = [0; 32];
    let mut i = 0;
    while i < 32 {
        bytes[i] = digit(text[2 * i]) << 4 | digit(text[2 * i + 1]);
        i += 1;
    }
    bytes
}
