// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Deadlines, Order, Terms} from "../../src/Order.sol";

/// @dev Packs three times as an order carries them. Written apart from the contracts, so that both must agree.
function packDeadlines(uint256 open, uint256 fill, uint256 refund) pure returns (Deadlines) {
    return Deadlines.wrap((open << 128) | (fill << 64) | refund);
}

/// @dev The part of an order that is handed to `open` and `openFor`.
function termsOf(Order memory order) pure returns (Terms memory) {
    return Terms({
        inputToken: order.inputToken,
        inputAmount: order.inputAmount,
        destinationChainId: order.destinationChainId,
        outputToken: order.outputToken,
        minOutput: order.minOutput,
        recipient: order.recipient,
        topUp: order.topUp,
        originVault: order.originVault,
        destinationVault: order.destinationVault,
        attesterSet: order.attesterSet,
        swapKey: order.swapKey,
        deadlines: order.deadlines
    });
}

/// @dev An order's EIP-712 struct hash, encoded field by field.
function typedHash(Order memory order) pure returns (bytes32) {
    bytes32 typehash = keccak256(
        "Order(address wallet,address inputToken,uint256 inputAmount,uint256 originChainId,uint256 destinationChainId,bytes32 outputToken,uint256 minOutput,bytes32 recipient,uint256 topUp,address escrow,address originVault,bytes32 destinationVault,bytes32 attesterSet,bytes32 swapKey,uint256 openDeadline,uint256 fillDeadline,uint256 refundAfter)"
    );
    uint256 deadlines = Deadlines.unwrap(order.deadlines);
    // In two halves, because one call with all fields is too deep for the compiler's stack.
    bytes memory first = abi.encode(
        typehash,
        order.wallet,
        order.inputToken,
        order.inputAmount,
        order.originChainId,
        order.destinationChainId,
        order.outputToken,
        order.minOutput,
        order.recipient
    );
    bytes memory second = abi.encode(
        order.topUp,
        order.escrow,
        order.originVault,
        order.destinationVault,
        order.attesterSet,
        order.swapKey,
        deadlines >> 128,
        uint64(deadlines >> 64),
        uint64(deadlines)
    );
    return keccak256(bytes.concat(first, second));
}

function word(address account) pure returns (bytes32) {
    return bytes32(uint256(uint160(account)));
}

function unword(bytes32 value) pure returns (address) {
    return address(uint160(uint256(value)));
}
