// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Deadlines, Order, Terms} from "../../src/Order.sol";

/// @dev Packs three times as an order carries them. Written apart from the contracts, so that both must agree.
function packDeadlines(uint256 open, uint256 fill, uint256 refund) pure returns (Deadlines) {
    return Deadlines.wrap((open << 128) | (fill << 64) | refund);
}

/// @dev The part of an order that its wallet hands to `open`.
function termsOf(Order memory order) pure returns (Terms memory) {
    return Terms({
        destinationChainId: order.destinationChainId,
        originVault: order.originVault,
        destinationVault: order.destinationVault,
        attesterSet: order.attesterSet,
        inputToken: order.inputToken,
        inputAmount: order.inputAmount,
        outputToken: order.outputToken,
        minOutput: order.minOutput,
        recipient: order.recipient,
        swapKey: order.swapKey,
        deadlines: order.deadlines
    });
}

function word(address account) pure returns (bytes32) {
    return bytes32(uint256(uint160(account)));
}

function unword(bytes32 value) pure returns (address) {
    return address(uint160(uint256(value)));
}
