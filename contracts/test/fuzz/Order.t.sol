// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Deadlines, Order} from "../../src/Order.sol";
import {packDeadlines, termsOf, typedHash, unword, word} from "../base/orders.sol";
import {Scene} from "../base/Scene.sol";
import {vm} from "../base/Vm.sol";

contract OrderFuzzTest is Scene {
    function testFuzz_anIdIsTheHashOfTheOrderAsTypedData(Order memory order) public view {
        vm.assertEq(order.orderId(), typedHash(order), "library");
        vm.assertEq(escrow.orderIdOf(order), typedHash(order), "escrow");
    }

    function testFuzz_everyBitOfEveryFieldChangesTheId(Order memory order, uint8 field, uint8 bit) public pure {
        bytes32 id = order.orderId();
        uint256 place = uint256(field) % 15;
        uint256 flip = uint256(1) << bit;
        assembly ("memory-safe") {
            let slot := add(order, mul(place, 0x20))
            mstore(slot, xor(mload(slot), flip))
        }
        vm.assertNotEq(order.orderId(), id, "two orders with one id");
    }

    function testFuzz_deadlinesAreReadAsTheyWerePacked(uint64 open, uint64 fill, uint64 refund) public pure {
        Deadlines deadlines = packDeadlines(open, fill, refund);
        vm.assertEq(deadlines.openDeadline(), open, "openDeadline");
        vm.assertEq(deadlines.fillDeadline(), fill, "fillDeadline");
        vm.assertEq(deadlines.refundAfter(), refund, "refundAfter");
        vm.assertTrue(deadlines.isOrdered() == (open < fill && fill < refund), "isOrdered");
    }

    function testFuzz_anythingAboveTheThreeTimesIsRefused(uint64 above) public pure {
        vm.assume(above != 0);
        Deadlines good = packDeadlines(1, 2, 3);
        vm.assertTrue(good.isOrdered(), "good");
        vm.assertTrue(!Deadlines.wrap(Deadlines.unwrap(good) | (uint256(above) << 192)).isOrdered(), "canonical");
    }

    /// @dev The escrow holds any amount, and the wallet or the vault gets exactly that.
    function testFuzz_anyAmountGoesInAndOutWhole(uint128 amount, bool isNative, bool toRelease) public {
        vm.assume(amount != 0);
        Order memory order = _order();
        order.inputAmount = amount;
        if (isNative) order.inputToken = 0;
        vm.deal(wallet, amount);
        plain.mint(wallet, amount);
        address payee = toRelease ? unword(order.originVault) : wallet;
        _open(order);
        uint256 before = isNative ? payee.balance : plain.balanceOf(payee);
        if (toRelease) escrow.release(order, _releaseAttestation(order));
        else escrow.refundEarly(order, _refundAttestation(order));
        uint256 paid = (isNative ? payee.balance : plain.balanceOf(payee)) - before;
        vm.assertEq(paid, amount, "paid");
    }

    /// @dev The escrow derives what the terms leave out, and nothing else.
    function testFuzz_theEscrowOpensTheOrderThatItsWalletMeant(
        bytes32 destinationVault,
        bytes32 outputToken,
        bytes32 recipient_,
        bytes32 swapKey,
        uint256 destinationChainId,
        uint256 minOutput
    ) public {
        vm.assume(minOutput != 0);
        Order memory order = _order();
        (order.destinationVault, order.outputToken, order.recipient) = (destinationVault, outputToken, recipient_);
        (order.swapKey, order.destinationChainId, order.minOutput) = (swapKey, destinationChainId, minOutput);
        _approve(order);
        vm.prank(wallet);
        vm.assertEq(escrow.open(termsOf(order)), order.orderId(), "id");
        order.wallet = word(stranger);
        vm.assertEq(uint256(escrow.orderState(order.orderId())), 0, "another wallet's order");
    }
}
