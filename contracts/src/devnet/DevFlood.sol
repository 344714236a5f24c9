// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order, Terms, toWord} from "../Order.sol";
import {Attestation, IGeoEscrow} from "../interfaces/IGeoEscrow.sol";

/// @title DevFlood
/// @notice A third party's contract that fills blocks with its own logs, and with logs of an escrow.
contract DevFlood {
    /// Enough to end the last round of `emitEmptyLogs`.
    uint256 private constant LEFT_OVER_GAS = 20_000;

    /// @notice Takes back the inputs of its orders.
    receive() external payable {}

    /// @notice Emits empty logs until the transaction has nearly no gas left.
    function emitEmptyLogs() external {
        while (gasleft() > LEFT_OVER_GAS) {
            // An empty log is the cheapest one, and a loop of one log would spend a third of the gas on itself.
            assembly ("memory-safe") {
                log0(0, 0)
                log0(0, 0)
                log0(0, 0)
                log0(0, 0)
                log0(0, 0)
                log0(0, 0)
                log0(0, 0)
                log0(0, 0)
                log0(0, 0)
                log0(0, 0)
                log0(0, 0)
                log0(0, 0)
                log0(0, 0)
                log0(0, 0)
                log0(0, 0)
                log0(0, 0)
            }
        }
    }

    /// @notice Makes an escrow skip an order of zeros `count` times in each of `times` batches. No such order exists, so
    /// that the caller can be the only attester.
    function skipMany(IGeoEscrow escrow, uint256 count, uint256 times, Attestation calldata attestation) external {
        Order[] memory orders = new Order[](count);
        for (uint256 i = 0; i < times; ++i) {
            escrow.refundMany(orders, attestation);
        }
    }

    /// @notice Opens `count` orders that differ in their swap keys only, each with an input of one wei.
    function openMany(IGeoEscrow escrow, Terms memory terms, uint256 count) external payable {
        for (uint256 i = 0; i < count; ++i) {
            escrow.open{value: 1}(terms);
            terms.swapKey = bytes32(uint256(terms.swapKey) + 1);
        }
    }

    /// @notice Refunds the orders that `openMany` opened.
    function refundMany(IGeoEscrow escrow, Terms memory terms, uint256 count) external {
        Order memory order = Order({
            wallet: toWord(address(this)),
            inputToken: terms.inputToken,
            inputAmount: terms.inputAmount,
            originChainId: block.chainid,
            destinationChainId: terms.destinationChainId,
            outputToken: terms.outputToken,
            minOutput: terms.minOutput,
            recipient: terms.recipient,
            topUp: terms.topUp,
            escrow: toWord(address(escrow)),
            originVault: terms.originVault,
            destinationVault: terms.destinationVault,
            attesterSet: terms.attesterSet,
            swapKey: terms.swapKey,
            deadlines: terms.deadlines
        });
        for (uint256 i = 0; i < count; ++i) {
            escrow.refund(order);
            order.swapKey = bytes32(uint256(order.swapKey) + 1);
        }
    }
}
