// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice Three unix times in one word: `openDeadline << 128 | fillDeadline << 64 | refundAfter`.
type Deadlines is uint256;

/// @notice The terms of one swap, fixed when its quote was issued. Its id is the hash of all of them.
/// @dev Every address is a 32-byte word, so that a Solana key fits. An EVM address has its upper 12 bytes zero.
/// The zero word is the native token.
struct Order {
    /// The chain that holds the escrow.
    uint256 originChainId;
    /// The chain on which the output is delivered.
    uint256 destinationChainId;
    /// The escrow that holds the input.
    bytes32 escrow;
    /// Who is paid the input when the output was delivered.
    bytes32 originVault;
    /// Who delivers the output.
    bytes32 destinationVault;
    /// Hash of the attesters that may decide the order, see `attesterSetHash`.
    bytes32 attesterSet;
    /// Who opened the order and is paid a refund.
    bytes32 wallet;
    bytes32 inputToken;
    uint256 inputAmount;
    bytes32 outputToken;
    /// The least that the recipient gets.
    uint256 minOutput;
    bytes32 recipient;
    /// The swap's UUID, left-padded with zeros: a swap's record can be rebuilt from the event.
    bytes32 swapKey;
    Deadlines deadlines;
}

/// @notice What `GeoEscrow.open` cannot derive: an order without its origin chain, escrow and wallet.
struct Terms {
    uint256 destinationChainId;
    bytes32 originVault;
    bytes32 destinationVault;
    bytes32 attesterSet;
    bytes32 inputToken;
    uint256 inputAmount;
    bytes32 outputToken;
    uint256 minOutput;
    bytes32 recipient;
    bytes32 swapKey;
    Deadlines deadlines;
}

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

/// @dev The hash of the order's fourteen words. Chain and escrow are among them, so no two escrows share an id.
function orderId(Order memory order) pure returns (bytes32 id) {
    assembly ("memory-safe") {
        // In memory the struct is its own encoding: fourteen words, one after the other.
        id := keccak256(order, 0x1c0)
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
