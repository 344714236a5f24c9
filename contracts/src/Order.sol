// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice Three unix times in one word: `openDeadline << 128 | fillDeadline << 64 | refundAfter`.
type Deadlines is uint256;

/// @notice The terms of one swap, fixed when its quote was issued. Its id is the EIP-712 hash of all of them, so that a
/// wallet signs the order itself.
/// @dev Every address is a 32-byte word, so that a Solana key fits. An EVM address has its upper 12 bytes zero, which is
/// also how EIP-712 encodes an `address`. The zero word is the native token.
struct Order {
    /// The wallet that pays the input and is paid a refund.
    bytes32 wallet;
    bytes32 inputToken;
    uint256 inputAmount;
    /// The chain that holds the escrow.
    uint256 originChainId;
    /// The chain on which the output is delivered.
    uint256 destinationChainId;
    bytes32 outputToken;
    /// The minimum that the recipient gets of the output token.
    uint256 minOutput;
    bytes32 recipient;
    /// What the recipient gets of the destination chain's native token beside the output, so that it can pay for gas.
    uint256 topUp;
    /// The escrow that holds the input.
    bytes32 escrow;
    /// The vault that is paid the input when the output was delivered.
    bytes32 originVault;
    /// The vault that delivers the output.
    bytes32 destinationVault;
    /// Hash of the attesters that may decide the order, see `attesterSetHash`.
    bytes32 attesterSet;
    /// The swap's UUID, left-padded with zeros, so that a swap's record can be rebuilt from the event.
    bytes32 swapKey;
    Deadlines deadlines;
}

/// @notice An order without the three fields that the escrow derives (wallet, origin chain and escrow).
struct Terms {
    bytes32 inputToken;
    uint256 inputAmount;
    uint256 destinationChainId;
    bytes32 outputToken;
    uint256 minOutput;
    bytes32 recipient;
    uint256 topUp;
    bytes32 originVault;
    bytes32 destinationVault;
    bytes32 attesterSet;
    bytes32 swapKey;
    Deadlines deadlines;
}

bytes32 constant ORDER_TYPEHASH = keccak256(
    "Order(address wallet,address inputToken,uint256 inputAmount,uint256 originChainId,uint256 destinationChainId,bytes32 outputToken,uint256 minOutput,bytes32 recipient,uint256 topUp,address escrow,address originVault,bytes32 destinationVault,bytes32 attesterSet,bytes32 swapKey,uint256 openDeadline,uint256 fillDeadline,uint256 refundAfter)"
);

using {openDeadline, fillDeadline, refundAfter, isOrdered} for Deadlines global;
using {orderId} for Order global;

/// @notice A word that should hold an EVM address has one of its upper 12 bytes set.
error NotAnAddress(bytes32 word);

/// @dev The last second in which the order may be opened.
function openDeadline(Deadlines deadlines) pure returns (uint256) {
    return (Deadlines.unwrap(deadlines) >> 128) & type(uint64).max;
}

/// @dev The first second in which the order can no longer be filled.
function fillDeadline(Deadlines deadlines) pure returns (uint256) {
    return (Deadlines.unwrap(deadlines) >> 64) & type(uint64).max;
}

/// @dev The first second in which anyone may refund the order.
function refundAfter(Deadlines deadlines) pure returns (uint256) {
    return Deadlines.unwrap(deadlines) & type(uint64).max;
}

/// @dev Nothing but three times is in the word, and they follow one another.
function isOrdered(Deadlines deadlines) pure returns (bool) {
    return Deadlines.unwrap(deadlines) >> 192 == 0 && deadlines.openDeadline() < deadlines.fillDeadline()
        && deadlines.fillDeadline() < deadlines.refundAfter();
}

/// @dev The order that these terms make for a wallet and an escrow of this chain.
function orderOf(Terms calldata terms, address wallet, address escrow) view returns (Order memory) {
    return Order({
        wallet: toWord(wallet),
        inputToken: terms.inputToken,
        inputAmount: terms.inputAmount,
        originChainId: block.chainid,
        destinationChainId: terms.destinationChainId,
        outputToken: terms.outputToken,
        minOutput: terms.minOutput,
        recipient: terms.recipient,
        topUp: terms.topUp,
        escrow: toWord(escrow),
        originVault: terms.originVault,
        destinationVault: terms.destinationVault,
        attesterSet: terms.attesterSet,
        swapKey: terms.swapKey,
        deadlines: terms.deadlines
    });
}

/// @dev The order's EIP-712 struct hash. Chain and escrow are among its fields, so no two escrows share an id.
function orderId(Order memory order) pure returns (bytes32 id) {
    bytes32 typehash = ORDER_TYPEHASH;
    assembly ("memory-safe") {
        // In memory the struct is its own encoding up to the deadlines, which are hashed as a word each. The upper 64
        // bits of their word are left in the first, so that two words that differ there have two ids.
        let at := mload(0x40)
        mstore(at, typehash)
        mcopy(add(at, 0x20), order, 0x1c0)
        let deadlines := mload(add(order, 0x1c0))
        mstore(add(at, 0x1e0), shr(128, deadlines))
        mstore(add(at, 0x200), and(shr(64, deadlines), 0xffffffffffffffff))
        mstore(add(at, 0x220), and(deadlines, 0xffffffffffffffff))
        id := keccak256(at, 0x240)
    }
}

/// @dev The hash that an order carries for its attesters.
function attesterSetHash(uint256 threshold, address[] calldata attesters) pure returns (bytes32) {
    return keccak256(abi.encode(threshold, attesters));
}

/// @dev Reads an EVM address from its word, and refuses a word that holds anything more.
function toAddress(bytes32 word) pure returns (address) {
    if (uint256(word) >> 160 != 0) revert NotAnAddress(word);
    return address(uint160(uint256(word)));
}

/// @dev The word of an EVM address.
function toWord(address account) pure returns (bytes32) {
    return bytes32(uint256(uint160(account)));
}
