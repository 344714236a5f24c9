// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order} from "../../src/Order.sol";
import {Attestation, EscrowState, IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {VaultState} from "../../src/interfaces/IGeoVault.sol";
import {word} from "../base/orders.sol";
import {Scene} from "../base/Scene.sol";
import {vm} from "../base/Vm.sol";
import {FakeVault} from "../mocks/FakeVault.sol";

contract GeoEscrowDecideTest is Scene {
    function test_aReleasePaysTheOriginVault() public {
        Order memory order = _order();
        _open(order);
        uint256 before = plain.balanceOf(address(vault));
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Released(order.orderId(), true);
        escrow.release(order, _releaseAttestation(order));
        vm.assertEq(plain.balanceOf(address(vault)) - before, order.inputAmount, "paid");
        vm.assertEq(plain.balanceOf(address(escrow)), 0, "kept");
        _isState(order, EscrowState.Released);
    }

    function test_aRefundPaysTheWallet() public {
        Order memory order = _order();
        uint256 before = plain.balanceOf(wallet);
        _open(order);
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Refunded(order.orderId(), true);
        escrow.refundEarly(order, _refundAttestation(order));
        vm.assertEq(plain.balanceOf(wallet), before, "paid");
        _isState(order, EscrowState.Refunded);
    }

    function test_aNativeOrderIsReleasedAndRefundedInTheNativeToken() public {
        Order memory one = _order();
        one.inputToken = 0;
        Order memory two = _order();
        (two.inputToken, two.swapKey) = (0, "two");
        (uint256 before, uint256 inventory) = (wallet.balance, address(vault).balance);
        _open(one);
        _open(two);
        escrow.release(one, _releaseAttestation(one));
        escrow.refundEarly(two, _refundAttestation(two));
        vm.assertEq(address(vault).balance - inventory, one.inputAmount, "released");
        vm.assertEq(wallet.balance, before - one.inputAmount, "refunded");
    }

    function test_anOrderIsDecidedOnce() public {
        Order memory order = _order();
        _open(order);
        escrow.release(order, _releaseAttestation(order));
        bytes memory reason = abi.encodeWithSelector(IGeoEscrow.NotOpen.selector, order.orderId());
        Attestation memory toRelease = _releaseAttestation(order);
        Attestation memory toRefund = _refundAttestation(order);
        vm.warp(REFUND_AFTER);
        vm.expectRevert(reason);
        escrow.refund(order);
        vm.expectRevert(reason);
        escrow.release(order, toRelease);
        vm.expectRevert(reason);
        escrow.refundEarly(order, toRefund);
    }

    function test_aRefundedOrderIsNotReleased() public {
        Order memory order = _order();
        _open(order);
        escrow.refundEarly(order, _refundAttestation(order));
        Attestation memory attestation = _releaseAttestation(order);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.NotOpen.selector, order.orderId()));
        escrow.release(order, attestation);
    }

    function test_anOrderOfAnotherEscrowIsNotOpenHere() public {
        Order memory order = _order();
        _open(order);
        IGeoEscrow second = _deployEscrow();
        vm.warp(REFUND_AFTER);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.NotOpen.selector, order.orderId()));
        second.refund(order);
        order.escrow = word(address(second));
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.NotOpen.selector, order.orderId()));
        escrow.refund(order);
    }

    function test_anyoneRefundsInTheSecondOfRefundAfter() public {
        Order memory order = _order();
        _open(order);
        vm.warp(REFUND_AFTER - 1);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.TooEarly.selector, REFUND_AFTER));
        escrow.refund(order);
        vm.warp(REFUND_AFTER);
        vm.prank(stranger);
        escrow.refund(order);
        _isState(order, EscrowState.Refunded);
    }

    function test_aSameChainOrderIsRefundedAsSoonAsItIsVoided() public {
        Order memory order = _orderHere();
        _open(order);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.TooEarly.selector, REFUND_AFTER));
        escrow.refund(order);
        vm.prank(operator);
        vault.void(order);
        escrow.refund(order);
        _isState(order, EscrowState.Refunded);
    }

    function test_aSameChainOrderIsRefundedAsSoonAsItExpires() public {
        Order memory order = _orderHere();
        _open(order);
        vm.warp(FILL_DEADLINE - 1);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.TooEarly.selector, REFUND_AFTER));
        escrow.refund(order);
        vm.warp(FILL_DEADLINE);
        escrow.refund(order);
        _isState(order, EscrowState.Refunded);
    }

    /// @dev The state of a vault on another chain is unknown here, even if a vault at the same address here reports it.
    function test_aVaultHereDoesNotSpeakForOneElsewhere() public {
        Order memory order = _order();
        FakeVault fake = new FakeVault();
        fake.setState(VaultState.Voided);
        order.destinationVault = word(address(fake));
        _open(order);
        vm.warp(FILL_DEADLINE);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.TooEarly.selector, REFUND_AFTER));
        escrow.refund(order);
    }

    function test_aSameChainOrderWhoseVaultIsNoneIsRefundedInTheEnd() public {
        Order memory order = _orderHere();
        order.destinationVault = keccak256("no vault");
        _open(order);
        vm.warp(REFUND_AFTER);
        escrow.refund(order);
        _isState(order, EscrowState.Refunded);
    }

    function test_aSameChainOrderIsReleasedByItsVaultAlone() public {
        Order memory order = _orderHere();
        FakeVault fake = new FakeVault();
        order.destinationVault = word(address(fake));
        _open(order);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.NotTheVault.selector, stranger));
        vm.prank(stranger);
        escrow.releaseFilled(order);
        fake.releaseFilled(escrow, order);
        _isState(order, EscrowState.Released);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.NotOpen.selector, order.orderId()));
        fake.releaseFilled(escrow, order);
    }

    function test_aVaultDoesNotReleaseAnOrderOfAnotherChain() public {
        Order memory order = _order();
        FakeVault fake = new FakeVault();
        order.destinationVault = word(address(fake));
        _open(order);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.NotTheVault.selector, address(fake)));
        fake.releaseFilled(escrow, order);
    }

    function test_noAttesterReleasesASameChainOrder() public {
        Order memory order = _orderHere();
        _open(order);
        Attestation memory attestation = _releaseAttestation(order);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.NotTheVault.selector, address(this)));
        escrow.release(order, attestation);
        Order[] memory list = new Order[](1);
        list[0] = order;
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Skipped(order.orderId());
        escrow.releaseMany(list, attestation);
        _isState(order, EscrowState.Opened);
        escrow.refundEarly(order, _refundAttestation(order));
        _isState(order, EscrowState.Refunded);
    }

    function test_aListDecidesWhatItCanAndPassesOverTheRest() public {
        Order memory good = _order();
        _open(good);
        Order memory unopened = _order();
        unopened.swapKey = "unopened";
        Order memory ofOthers = _order();
        (ofOthers.attesterSet, ofOthers.swapKey) = (keccak256("others"), "others");
        _open(ofOthers);
        Order[] memory list = new Order[](4);
        (list[0], list[1], list[2], list[3]) = (good, unopened, ofOthers, good);

        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Released(good.orderId(), true);
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Skipped(unopened.orderId());
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Skipped(ofOthers.orderId());
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Skipped(good.orderId());
        escrow.releaseMany(list, _attest(escrow.releaseDigest(_ids(list))));
        _isState(good, EscrowState.Released);
        _isState(ofOthers, EscrowState.Opened);
        vm.assertEq(plain.balanceOf(address(escrow)), ofOthers.inputAmount, "held");
    }

    function test_aListOfRefundsPaysEachWallet() public {
        Order memory one = _order();
        Order memory two = _order();
        two.swapKey = "two";
        uint256 before = plain.balanceOf(wallet);
        _open(one);
        _open(two);
        Order[] memory list = _list(one, two);
        escrow.refundMany(list, _attest(escrow.refundDigest(_ids(list))));
        vm.assertEq(plain.balanceOf(wallet), before, "refunded");
        _isState(two, EscrowState.Refunded);
    }
}
