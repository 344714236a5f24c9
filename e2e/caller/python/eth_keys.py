"""Stands in for the package eth-keys, which Debian does not have: the part that examples/python/swap.py uses.

It is made of Debian's packages of ecdsa and pycryptodomex, and is not for real keys: it is not written for constant time.
"""

from hashlib import sha256
from types import SimpleNamespace

from Cryptodome.Hash import keccak
from ecdsa import SECP256k1, SigningKey


def keccak256(data: bytes) -> bytes:
    return keccak.new(digest_bits=256, data=data).digest()


class PublicKey:
    def __init__(self, key):
        self.key = key

    def to_checksum_address(self) -> str:
        plain = keccak256(self.key.to_string())[12:].hex()
        digits = keccak256(plain.encode()).hex()
        return "0x" + "".join(c.upper() if int(digit, 16) >= 8 else c for c, digit in zip(plain, digits))


class PrivateKey:
    def __init__(self, private_key_bytes: bytes):
        self.key = SigningKey.from_string(private_key_bytes, curve=SECP256k1)
        self.public_key = PublicKey(self.key.verifying_key)

    def sign_msg_hash(self, message_hash: bytes):
        order, generator = SECP256k1.order, SECP256k1.generator
        pair = lambda r, s, _: (r, min(s, order - s))
        r, s = self.key.sign_digest_deterministic(message_hash, hashfunc=sha256, sigencode=pair)
        inverse = pow(s, -1, order)
        digest = int.from_bytes(message_hash, "big")
        point = generator * (digest * inverse % order) + self.key.verifying_key.pubkey.point * (r * inverse % order)
        return SimpleNamespace(v=point.y() & 1, r=r, s=s)


keys = SimpleNamespace(PrivateKey=PrivateKey)
