"""Computes what an EVM wallet signs, as docs/signing.md says, and compares it with what the service built."""

from Cryptodome.Hash import keccak as keccak_of

MAX_SECONDS_TO_OPEN = 15 * 60
MAX_SECONDS_TO_REFUND = 3 * 24 * 60 * 60
DOMAIN_FIELDS = [
    ("string", "name"), ("string", "version"), ("uint256", "chainId"), ("address", "verifyingContract"),
]
ORDER_FIELDS = [
    ("address", "wallet"), ("address", "inputToken"), ("uint256", "inputAmount"), ("uint256", "originChainId"),
    ("uint256", "destinationChainId"), ("bytes32", "outputToken"), ("uint256", "minOutput"), ("bytes32", "recipient"),
    ("uint256", "topUp"), ("address", "escrow"), ("address", "originVault"), ("bytes32", "destinationVault"),
    ("bytes32", "attesterSet"), ("bytes32", "swapKey"), ("uint256", "openDeadline"), ("uint256", "fillDeadline"),
    ("uint256", "refundAfter"),
]


class Refused(Exception):
    """The service built or quoted something else than was asked for. Nothing was signed."""


def keccak(data: bytes) -> bytes:
    return keccak_of.new(digest_bits=256, data=data).digest()


def number(value) -> int:
    """Returns a number that the API writes as a number, in decimal or in hex."""
    return int(value, 0) if isinstance(value, str) else int(value)


def word(value) -> bytes:
    return number(value).to_bytes(32, "big")


def type_hash(name: str, fields: list) -> bytes:
    """Returns the hash of a type of EIP-712."""
    return keccak(f"{name}({','.join(f'{kind} {field}' for kind, field in fields)})".encode())


def message_of(order: dict) -> dict:
    """Returns the order as EIP-712 has it: its deadlines are three numbers."""
    deadlines = number(order["deadlines"])
    times = {
        "openDeadline": deadlines >> 128,
        "fillDeadline": deadlines >> 64 & 2**64 - 1,
        "refundAfter": deadlines & 2**64 - 1,
    }
    return {**{name: value for name, value in order.items() if name != "deadlines"}, **times}


def order_id(order: dict) -> str:
    """Returns the order's struct hash. An address is encoded as a word, as numbers are."""
    message = message_of(order)
    words = b"".join(word(message[name]) for _, name in ORDER_FIELDS)
    return "0x" + keccak(type_hash("Order", ORDER_FIELDS) + words).hex()


def order_digest(order: dict) -> bytes:
    """Returns what the wallet signs: the digest of the order's typed data."""
    domain = keccak(
        type_hash("EIP712Domain", DOMAIN_FIELDS)
        + keccak(b"Geoswap")
        + keccak(b"1")
        + word(order["originChainId"])
        + word(order["escrow"])
    )
    return keccak(b"\x19\x01" + domain + bytes.fromhex(order_id(order)[2:]))


def typed_data(order: dict) -> dict:
    """Returns the order as typed data for eth_signTypedData_v4, or for sign_typed_data of eth-account."""
    message = message_of(order)

    def written(kind: str, value) -> str:
        if kind == "uint256":
            return str(number(value))
        return "0x" + (word(value)[12:] if kind == "address" else word(value)).hex()

    as_types = lambda fields: [{"name": name, "type": kind} for kind, name in fields]
    return {
        "domain": {
            "name": "Geoswap",
            "version": "1",
            "chainId": number(order["originChainId"]),
            "verifyingContract": written("address", order["escrow"]),
        },
        "types": {"EIP712Domain": as_types(DOMAIN_FIELDS), "Order": as_types(ORDER_FIELDS)},
        "primaryType": "Order",
        "message": {name: written(kind, message[name]) for kind, name in ORDER_FIELDS},
    }


def swap_key(swap_id: str) -> str:
    """Returns the UUID of a swap's id, which is TypeID's base 32, as a word."""
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    prefix, _, digits = swap_id.partition("_")
    if prefix != "swp" or len(digits) != 26 or digits[0] > "7" or any(digit not in alphabet for digit in digits):
        raise Refused(f"quote.swapId is {swap_id}")
    value = 0
    for digit in digits:
        value = value << 5 | alphabet.index(digit)
    return "0x" + word(value).hex()


def pinned_chain(pins: dict, chain_id: int) -> dict:
    for chain in pins["chains"]:
        if chain["chainId"] == chain_id:
            return chain
    raise Refused(f"the deployment file has no EVM chain {chain_id}")


def expected_order(asked: dict, quote: dict, build: dict, pins: dict, now: int) -> dict:
    """Returns the order that follows from the request, the pins and the quoted minimum."""
    origin = pinned_chain(pins, asked["originChain"])
    destination = pinned_chain(pins, asked["destinationChain"])
    least = max(asked["minOutput"], number(quote["output"]) * (10_000 - asked["slippageBps"]) // 10_000)
    if not least <= number(quote["minOutput"]) <= number(quote["output"]):
        raise Refused(f"quote.minOutput is {quote['minOutput']}, and must be at least {least}")
    deadlines = number(build["geoOp"]["order"]["deadlines"])
    opens, fills, refunds = deadlines >> 128, deadlines >> 64 & 2**64 - 1, deadlines & 2**64 - 1
    if not now < opens <= now + MAX_SECONDS_TO_OPEN or not opens < fills < refunds <= opens + MAX_SECONDS_TO_REFUND:
        raise Refused(f"geoOp.order.deadlines are {opens}, {fills} and {refunds}, and it is {now}")
    return {
        "wallet": asked["walletAddress"],
        "inputToken": asked["inputToken"],
        "inputAmount": asked["amount"],
        "originChainId": asked["originChain"],
        "destinationChainId": asked["destinationChain"],
        "outputToken": asked["outputToken"],
        "minOutput": number(quote["minOutput"]),
        "recipient": asked["recipient"],
        "topUp": 0,
        "escrow": origin["contracts"]["escrow"],
        "originVault": origin["contracts"]["vault"],
        "destinationVault": destination["contracts"]["vault"],
        "attesterSet": origin["attesterSet"]["hash"],
        "swapKey": swap_key(quote["swapId"]),
        "deadlines": deadlines,
    }


def verify(asked: dict, quote: dict, build: dict, pins: dict, now: int) -> dict:
    """Returns the order to sign. Raises Refused with the name of the first field that is not what was asked for."""
    geo_op = build["geoOp"]
    order = expected_order(asked, quote, build, pins, now)
    contracts = pinned_chain(pins, asked["originChain"])["contracts"]
    allowed = [contracts["delegate"], contracts["typedDelegate"]]
    if number(geo_op["delegate"]) not in [number(delegate) for delegate in allowed]:
        raise Refused(f"geoOp.delegate is {geo_op['delegate']}, and the deployment file has {allowed}")
    expected = {
        "order": order,
        "orderId": order_id(order),
        "chainId": asked["originChain"],
        "typedData": typed_data(order),
    }
    compare("geoOp", expected, geo_op)
    compare("geoOpHash", "0x" + order_digest(order).hex(), build["geoOpHash"])
    return order


def compare(field: str, expected, given) -> None:
    if isinstance(expected, dict):
        for name, value in expected.items():
            compare(f"{field}.{name}", value, given[name])
    elif isinstance(expected, list):
        compare(f"{field}.length", len(expected), len(given))
        for index, value in enumerate(expected):
            compare(f"{field}[{index}]", value, given[index])
    elif not is_same(expected, given):
        raise Refused(f"{field} is {given}, and must be {expected}")


def is_same(expected, given) -> bool:
    """Compares numbers by their value, in whatever form they are written, and other texts as they are."""
    try:
        return number(expected) == number(given)
    except ValueError:
        return expected == given


def rlp(value: bytes) -> bytes:
    """Encodes at most 55 bytes."""
    return value if len(value) == 1 and value[0] < 0x80 else bytes([0x80 + len(value)]) + value


def authorization_hash(chain_id: int, delegate: str, nonce: int) -> bytes:
    """Returns what the wallet signs on its first swap from a chain (EIP-7702)."""
    integers = [value.to_bytes((value.bit_length() + 7) // 8, "big") for value in (chain_id, nonce)]
    items = rlp(integers[0]) + rlp(word(delegate)[12:]) + rlp(integers[1])
    return keccak(b"\x05" + bytes([0xC0 + len(items)]) + items)
