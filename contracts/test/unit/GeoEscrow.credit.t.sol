// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order} from "../../src/Order.sol";
import {Attestation, EscrowState, IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {word} from "../base/orders.sol";
import {Scene} from "../base/Scene.sol";
import {vm} from "../base/Vm.sol";
import {Intruder} from "../mocks/Intruder.sol";

contract GeoEscrowCreditTest is Scene {
    function test_aReleaseThatFailsBecomesTheVaultsCreditAndDecidesTheOrder() public {
        Order memory order = _blockedOrder();
        blocking.setBlocked(address(vault), true);
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Credited(order.orderId(), address(vault), address(blocking), order.inputAmount);
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Released(order.orderId(), false);
        escrow.release(order, _releaseAttestation(order));
        _isState(order, EscrowState.Released);
        vm.assertEq(escrow.credit(address(blocking), address(vault)), order.inputAmount, "credit");
        vm.warp(REFUND_AFTER);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.NotOpen.selector, order.orderId()));
        escrow.refund(order);
    }

    function test_aRefundThatFailsBecomesTheWalletsCredit() public {
        Order memory order = _blockedOrder();
        blocking.setBlocked(wallet, true);
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Refunded(order.orderId(), false);
        escrow.refundEarly(order, _refundAttestation(order));
        vm.assertEq(escrow.credit(address(blocking), wallet), order.inputAmount, "credit");
        _isState(order, EscrowState.Refunded);
    }

    function test_aTokenThatReturnsFalseLeavesACredit() public {
        Order memory order = _blockedOrder();
        blocking.setBlocked(wallet, true);
        blocking.setQuiet(true);
        escrow.refundEarly(order, _refundAttestation(order));
        vm.assertEq(escrow.credit(address(blocking), wallet), order.inputAmount, "credit");
    }

    function test_anEscrowThatIsBlockedLeavesACredit() public {
        Order memory order = _blockedOrder();
        blocking.setBlocked(address(escrow), true);
        vm.warp(REFUND_AFTER);
        escrow.refund(order);
        vm.assertEq(escrow.credit(address(blocking), wallet), order.inputAmount, "credit");
    }

    function test_aWalletThatRefusesBurnsOrFloodsIsCredited() public {
        for (uint8 mode = 1; mode < 4; ++mode) {
            Order memory order = _nativeOrder(bytes32(uint256(mode)));
            intruder.setOnReceive(Intruder.OnReceive(mode));
            uint256 before = escrow.credit(NATIVE, address(intruder));
            escrow.refundEarly(order, _refundAttestation(order));
            vm.assertEq(escrow.credit(NATIVE, address(intruder)) - before, order.inputAmount, "credit");
        }
    }

    function test_creditsOfOneBeneficiaryAddUp() public {
        Order memory one = _nativeOrder("one");
        Order memory two = _nativeOrder("two");
        intruder.setOnReceive(Intruder.OnReceive.Refuse);
        escrow.refundEarly(one, _refundAttestation(one));
        escrow.refundEarly(two, _refundAttestation(two));
        vm.assertEq(escrow.credit(NATIVE, address(intruder)), 2 * one.inputAmount, "sum");
        intruder.setOnReceive(Intruder.OnReceive.Accept);
        escrow.claim(NATIVE, address(intruder));
        vm.assertEq(address(intruder).balance, 2 * one.inputAmount, "claimed");
    }

    function test_anyoneClaimsForTheBeneficiary() public {
        Order memory order = _credited();
        blocking.setBlocked(wallet, false);
        uint256 before = blocking.balanceOf(wallet);
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Claimed(wallet, address(blocking), wallet, order.inputAmount);
        vm.prank(stranger);
        escrow.claim(address(blocking), wallet);
        vm.assertEq(blocking.balanceOf(wallet) - before, order.inputAmount, "paid");
        vm.expectRevert(IGeoEscrow.NothingToClaim.selector);
        escrow.claim(address(blocking), wallet);
    }

    function test_theBeneficiaryAloneNamesAnotherAddress() public {
        Order memory order = _credited();
        vm.expectRevert(IGeoEscrow.NothingToClaim.selector);
        vm.prank(stranger);
        escrow.claimTo(address(blocking), stranger);
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Claimed(wallet, address(blocking), recipient, order.inputAmount);
        vm.prank(wallet);
        escrow.claimTo(address(blocking), recipient);
        vm.assertEq(blocking.balanceOf(recipient), order.inputAmount, "paid");
    }

    function test_aClaimThatFailsLeavesTheCredit() public {
        Order memory order = _credited();
        vm.expectRevert(IGeoEscrow.ClaimFailed.selector);
        escrow.claim(address(blocking), wallet);
        vm.assertEq(escrow.credit(address(blocking), wallet), order.inputAmount, "credit");
    }

    /// @dev With any gas from the caller, the payment is made or nothing happens. A lack of gas never turns it into a
    /// credit.
    function test_aCallerCannotStarveAPayment() public {
        Order memory order = _nativeOrder("starved");
        Attestation memory attestation = _refundAttestation(order);
        bytes memory data = abi.encodeCall(IGeoEscrow.refundEarly, (order, attestation));
        bool sawTooLittle = false;
        bool paid = false;
        for (uint256 gasGiven = 40_000; !paid; gasGiven += 1_000) {
            bytes memory answer;
            (paid, answer) = address(escrow).call{gas: gasGiven}(data);
            vm.assertEq(escrow.credit(NATIVE, address(intruder)), 0, "starved into a credit");
            if (!paid && bytes4(answer) == IGeoEscrow.InsufficientGas.selector) sawTooLittle = true;
        }
        vm.assertTrue(sawTooLittle, "never short of gas for the payment alone");
        vm.assertEq(address(intruder).balance, order.inputAmount, "paid");
    }

    function test_aPaymentWithTooLittleGasIsRefused() public {
        Order memory order = _nativeOrder("starved");
        vm.warp(REFUND_AFTER);
        vm.expectRevert(IGeoEscrow.InsufficientGas.selector);
        escrow.refund{gas: 100_000}(order);
    }

    function test_theTreasuryClaimsTheVaultsCredit() public {
        Order memory order = _blockedOrder();
        blocking.setBlocked(address(vault), true);
        escrow.release(order, _releaseAttestation(order));
        vm.prank(treasury);
        vault.claimCredit(address(blocking), treasury);
        vm.assertEq(blocking.balanceOf(treasury), order.inputAmount, "claimed");
    }

    function _blockedOrder() private returns (Order memory order) {
        order = _order();
        order.inputToken = word(address(blocking));
        _open(order);
    }

    function _credited() private returns (Order memory order) {
        order = _blockedOrder();
        blocking.setBlocked(wallet, true);
        escrow.refundEarly(order, _refundAttestation(order));
    }

    function _nativeOrder(bytes32 key) private returns (Order memory order) {
        order = _order();
        (order.inputToken, order.swapKey, order.wallet) = (0, key, word(address(intruder)));
        vm.deal(address(intruder), order.inputAmount);
        _open(order);
    }
}
