"""Computes what an EVM wallet signs, as docs/signing.md says, and compares it with what the service built."""

from Cryptodome.Hash import keccak as keccak_of

ENTRY_POINT = "0x433709009B8330FDa32311DF1C2AFA402eD8D009"
MAX_SECONDS_TO_OPEN = 15 * 60
MAX_SECONDS_TO_REFUND = 3 * 24 * 60 * 60
ORDER_FIELDS = [
    "originChainId", "destinationChainId", "escrow", "originVault", "destinationVault", "attesterSet", "wallet",
    "inputToken", "inputAmount", "outputToken", "minOutput", "recipient", "swapKey", "deadlines",
]
# The escrow fills in the other three: its chain, itself and its caller.
TERMS_FIELDS = [name for name in ORDER_FIELDS if name not in ("originChainId", "escrow", "wallet")]


class Refused(Exception):
    """The service built or quoted something else than was asked for. Nothing was signed."""


def keccak(data: bytes) -> bytes:
    return keccak_of.new(digest_bits=256, data=data).digest()


def number(value) -> int:
    """Returns a number that the API writes as a number, in decimal or in hex."""
    return int(value, 0) if isinstance(value, str) else int(value)


def word(value) -> bytes:
    return number(value).to_bytes(32, "big")


def order_id(order: dict) -> str:
    return "0x" + keccak(b"".join(word(order[name]) for name in ORDER_FIELDS)).hex()


def selector(signature: str) -> bytes:
    return keccak(signature.encode())[:4]


def dynamic(data: bytes) -> bytes:
    """Encodes bytes as the ABI does: their length, then the bytes, padded to words."""
    return word(len(data)) + data + bytes(-len(data) % 32)


def order_calls(order: dict, allowance: int) -> list:
    terms = "uint256,bytes32,bytes32,bytes32,bytes32,uint256,bytes32,uint256,bytes32,bytes32,uint256"
    open_data = selector(f"open(({terms}))") + b"".join(word(order[name]) for name in TERMS_FIELDS)
    escrow, token, amount = address_of(order["escrow"]), address_of(order["inputToken"]), number(order["inputAmount"])
    if number(order["inputToken"]) == 0:
        return [{"to": escrow, "value": amount, "data": open_data}]
    approvals = [amount] if allowance == 0 else [0, amount]
    calls = [
        {"to": token, "value": 0, "data": selector("approve(address,uint256)") + word(escrow) + word(allowed)}
        for allowed in approvals
    ]
    return [*calls, {"to": escrow, "value": 0, "data": open_data}]


def address_of(value: str) -> str:
    """Returns the address in a word."""
    return "0x" + word(value)[12:].hex()


def call_data(calls: list) -> bytes:
    """Encodes execute(mode, executionData) of ERC-7821: all calls or none."""
    tuples = [word(call["to"]) + word(call["value"]) + word(96) + dynamic(call["data"]) for call in calls]
    offsets, offset = [], 32 * len(tuples)
    for encoded in tuples:
        offsets.append(word(offset))
        offset += len(encoded)
    execution_data = word(32) + word(len(tuples)) + b"".join(offsets) + b"".join(tuples)
    mode = b"\x01" + bytes(31)
    return selector("execute(bytes32,bytes)") + mode + word(64) + dynamic(execution_data)


def user_op(order: dict, calls: list, gas: dict) -> dict:
    limits = number(gas["verificationGasLimit"]) << 128 | number(gas["callGasLimit"])
    return {
        "sender": address_of(order["wallet"]),
        "nonce": number(order["swapKey"]) << 64,
        "initCode": b"\x77\x02",
        "callData": call_data(calls),
        "accountGasLimits": word(limits),
        "preVerificationGas": 0,
        "gasFees": bytes(32),
        "paymasterAndData": b"",
    }


def op_hash(op: dict, chain_id: int, delegate: str) -> bytes:
    """Returns the EIP-712 hash of EntryPoint v0.9, in which the delegate stands in place of the marker 0x7702."""
    domain_type = b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    domain = keccak(
        keccak(domain_type) + keccak(b"ERC4337") + keccak(b"1") + word(chain_id) + word(ENTRY_POINT)
    )
    op_type = (
        b"PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,"
        b"uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)"
    )
    struct = keccak(
        keccak(op_type)
        + word(op["sender"])
        + word(op["nonce"])
        + keccak(word(delegate)[12:])
        + keccak(op["callData"])
        + op["accountGasLimits"]
        + word(op["preVerificationGas"])
        + op["gasFees"]
        + keccak(op["paymasterAndData"])
    )
    return keccak(b"\x19\x01" + domain + struct)


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
        "originChainId": asked["originChain"],
        "destinationChainId": asked["destinationChain"],
        "escrow": origin["contracts"]["escrow"],
        "originVault": origin["contracts"]["vault"],
        "destinationVault": destination["contracts"]["vault"],
        "attesterSet": origin["attesterSet"]["hash"],
        "wallet": asked["walletAddress"],
        "inputToken": asked["inputToken"],
        "inputAmount": asked["amount"],
        "outputToken": asked["outputToken"],
        "minOutput": number(quote["minOutput"]),
        "recipient": asked["recipient"],
        "swapKey": swap_key(quote["swapId"]),
        "deadlines": deadlines,
    }


def verify(asked: dict, quote: dict, build: dict, pins: dict, now: int) -> bytes:
    """Returns the hash to sign. Raises Refused with the name of the first field that is not what was asked for."""
    geo_op = build["geoOp"]
    order = expected_order(asked, quote, build, pins, now)
    contracts = pinned_chain(pins, asked["originChain"])["contracts"]
    allowed = [contracts["delegate"], *contracts["earlierDelegates"]]
    if number(geo_op["delegate"]) not in [number(delegate) for delegate in allowed]:
        raise Refused(f"geoOp.delegate is {geo_op['delegate']}, and the deployment file has {allowed}")
    gas = geo_op["gas"]
    if number(gas["verificationGasLimit"]) > 200_000 or number(gas["callGasLimit"]) > 1_000_000:
        raise Refused(f"geoOp.gas is {gas}")
    calls = order_calls(order, number(geo_op["allowance"]))
    op = user_op(order, calls, gas)
    hashed = op_hash(op, asked["originChain"], geo_op["delegate"])
    expected = {
        "entryPoint": ENTRY_POINT,
        "chainId": asked["originChain"],
        "orderId": order_id(order),
        "order": order,
        "calls": calls,
        "userOp": op,
    }
    compare("geoOp", expected, geo_op)
    compare("geoOpHash", hashed, build["geoOpHash"])
    return hashed


def compare(field: str, expected, given) -> None:
    if isinstance(expected, dict):
        for name, value in expected.items():
            compare(f"{field}.{name}", value, given[name])
    elif isinstance(expected, list):
        compare(f"{field}.length", len(expected), len(given))
        for index, value in enumerate(expected):
            compare(f"{field}[{index}]", value, given[index])
    elif isinstance(expected, bytes):
        if given.lower() != "0x" + expected.hex():
            raise Refused(f"{field} is {given}, and must be 0x{expected.hex()}")
    elif number(expected) != number(given):
        raise Refused(f"{field} is {given}, and must be {expected}")


def rlp(value: bytes) -> bytes:
    """Encodes at most 55 bytes."""
    return value if len(value) == 1 and value[0] < 0x80 else bytes([0x80 + len(value)]) + value


def authorization_hash(chain_id: int, delegate: str, nonce: int) -> bytes:
    """Returns what the wallet signs on its first swap from a chain (EIP-7702)."""
    integers = [value.to_bytes((value.bit_length() + 7) // 8, "big") for value in (chain_id, nonce)]
    items = rlp(integers[0]) + rlp(word(delegate)[12:]) + rlp(integers[1])
    return keccak(b"\x05" + bytes([0xC0 + len(items)]) + items)


def personal_hash(hashed: bytes) -> bytes:
    """Returns what personal_sign (EIP-191) makes of 32 bytes."""
    return keccak(b"\x19Ethereum Signed Message:\n32" + hashed)
