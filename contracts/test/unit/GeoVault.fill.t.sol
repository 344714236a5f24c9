// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CapExceeded} from "../../src/Cap.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {NotAnAddress, Order} from "../../src/Order.sol";
import {EscrowState, IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {Fill, IGeoVault, VaultState} from "../../src/interfaces/IGeoVault.sol";
import {word} from "../base/orders.sol";
import {Scene} from "../base/Scene.sol";
import {vm} from "../base/Vm.sol";
import {Intruder} from "../mocks/Intruder.sol";

contract GeoVaultFillTest is Scene {
    function test_aFillDeliversFromInventory() public {
        Order memory order = _orderFromThere();
        Fill memory item = _inventoryFill(order);
        item.amount = order.minOutput + 5;
        vm.expectEmit(address(vault));
        emit IGeoVault.Filled(order.orderId(), item.amount, address(other), item.amount);
        _fill(item);
        vm.assertEq(other.balanceOf(recipient), item.amount, "delivered");
        _isState(order, VaultState.Filled);
    }

    function test_aFillDeliversTheNativeToken() public {
        Order memory order = _orderFromThere();
        order.outputToken = 0;
        _fill(_inventoryFill(order));
        vm.assertEq(recipient.balance, order.minOutput, "delivered");
    }

    function test_aTokenThatReturnsNothingIsDelivered() public {
        Order memory order = _orderFromThere();
        order.outputToken = word(address(noReturn));
        _fill(_inventoryFill(order));
        vm.assertEq(noReturn.balanceOf(recipient), order.minOutput, "delivered");
    }

    function test_anOrderIsFilledOnce() public {
        Order memory order = _orderFromThere();
        _fill(_inventoryFill(order));
        bytes memory reason = abi.encodeWithSelector(IGeoVault.AlreadyDecided.selector, order.orderId());
        _fillReverts(_inventoryFill(order), reason);
        vm.expectRevert(reason);
        vm.prank(operator);
        vault.void(order);
    }

    function test_aVoidedOrderIsNeverFilled() public {
        Order memory order = _orderFromThere();
        vm.prank(operator);
        vault.void(order);
        _fillReverts(_inventoryFill(order), abi.encodeWithSelector(IGeoVault.AlreadyDecided.selector, order.orderId()));
    }

    function test_anOrderIsFilledUpToTheSecondBeforeItsFillDeadline() public {
        Order memory order = _orderFromThere();
        vm.warp(FILL_DEADLINE);
        _fillReverts(_inventoryFill(order), abi.encodeWithSelector(IGeoVault.FillExpired.selector, FILL_DEADLINE));
        vm.warp(FILL_DEADLINE - 1);
        _fill(_inventoryFill(order));
    }

    function test_aVaultFillsItsOwnOrdersOnItsOwnChain() public {
        Order memory order = _orderFromThere();
        order.destinationVault = word(address(router));
        _fillReverts(
            _inventoryFill(order), abi.encodeWithSelector(IGeoVault.WrongVault.selector, HERE, order.destinationVault)
        );
        order = _orderFromThere();
        order.destinationChainId = THERE;
        _fillReverts(
            _inventoryFill(order), abi.encodeWithSelector(IGeoVault.WrongVault.selector, THERE, order.destinationVault)
        );
    }

    function test_aFillOfNothingIsRefused() public {
        Fill memory item = _inventoryFill(_orderFromThere());
        item.amount = 0;
        _fillReverts(item, abi.encodeWithSelector(IGeoVault.ZeroAmount.selector));
    }

    function test_aRecipientGetsAtLeastTheMinimum() public {
        Order memory order = _orderFromThere();
        Fill memory item = _inventoryFill(order);
        item.amount = order.minOutput - 1;
        _fillReverts(
            item, abi.encodeWithSelector(IGeoVault.TooLittleDelivered.selector, order.minOutput - 1, order.minOutput)
        );
        item.amount = order.minOutput;
        item.minOutput = order.minOutput + 1;
        _fillReverts(
            item, abi.encodeWithSelector(IGeoVault.TooLittleDelivered.selector, order.minOutput, order.minOutput + 1)
        );
    }

    function test_whatCountsIsWhatArrives() public {
        Order memory order = _orderFromThere();
        order.outputToken = word(address(fee));
        fee.setFee(100);
        _fillReverts(
            _inventoryFill(order),
            abi.encodeWithSelector(IGeoVault.TooLittleDelivered.selector, order.minOutput * 99 / 100, order.minOutput)
        );
    }

    function test_aVaultThatPaysItselfDeliversNothing() public {
        Order memory order = _orderFromThere();
        (order.recipient, order.minOutput) = (word(address(vault)), 0);
        Fill memory item = _inventoryFill(order);
        item.amount = 1;
        _fillReverts(item, abi.encodeWithSelector(IGeoVault.TooLittleDelivered.selector, 0, 1));
    }

    function test_aRecipientOrTokenThatIsNoAddressIsRefused() public {
        Order memory order = _orderFromThere();
        order.recipient = keccak256("a wallet on Solana");
        _fillReverts(_inventoryFill(order), abi.encodeWithSelector(NotAnAddress.selector, order.recipient));
        order = _orderFromThere();
        order.outputToken = keccak256("a mint on Solana");
        _fillReverts(_inventoryFill(order), abi.encodeWithSelector(NotAnAddress.selector, order.outputToken));
    }

    function test_aRecipientThatRefusesOrBurnsFailsItsFillAlone() public {
        Order memory order = _orderFromThere();
        (order.outputToken, order.recipient) = (0, word(address(intruder)));
        for (uint8 mode = 1; mode < 4; ++mode) {
            intruder.setOnReceive(Intruder.OnReceive(mode));
            _fillReverts(
                _inventoryFill(order),
                abi.encodeWithSelector(IGeoVault.NativeTransferFailed.selector, address(intruder))
            );
        }
        _isState(order, VaultState.None);
    }

    function test_aRecipientThatIsBlockedFailsItsFill() public {
        Order memory order = _orderFromThere();
        order.outputToken = word(address(blocking));
        blocking.setBlocked(recipient, true);
        blocking.setQuiet(true);
        _fillReverts(
            _inventoryFill(order),
            abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, address(blocking))
        );
    }

    function test_aNativePaymentIsNotStarved() public {
        Order memory order = _orderFromThere();
        order.outputToken = 0;
        vm.expectRevert(IGeoVault.InsufficientGas.selector);
        vm.prank(operator);
        vault.fill{gas: 120_000}(_inventoryFill(order));
    }

    function test_onOneChainDeliveryAndReleaseAreOne() public {
        Order memory order = _orderHere();
        _open(order);
        uint256 before = plain.balanceOf(address(vault));
        vm.expectEmit(address(escrow));
        emit IGeoEscrow.Released(order.orderId(), true);
        _fill(_inventoryFill(order));
        vm.assertEq(other.balanceOf(recipient), order.minOutput, "delivered");
        vm.assertEq(plain.balanceOf(address(vault)) - before, order.inputAmount, "released");
        _isState(order, EscrowState.Released);
        _isState(order, VaultState.Filled);
    }

    function test_aSameChainOrderThatIsNotOpenIsNotFilled() public {
        Order memory order = _orderHere();
        _fillReverts(_inventoryFill(order), abi.encodeWithSelector(IGeoEscrow.NotOpen.selector, order.orderId()));
        _open(order);
        escrow.refundEarly(order, _refundAttestation(order));
        _fillReverts(_inventoryFill(order), abi.encodeWithSelector(IGeoEscrow.NotOpen.selector, order.orderId()));
    }

    function test_aSameChainOrderOfAnotherEscrowOrVaultIsNotFilled() public {
        Order memory order = _orderHere();
        order.escrow = word(address(_deployEscrow()));
        _fillReverts(
            _inventoryFill(order),
            abi.encodeWithSelector(IGeoVault.WrongOrigin.selector, order.escrow, order.originVault)
        );
        order = _orderHere();
        order.originVault = word(stranger);
        _open(order);
        _fillReverts(
            _inventoryFill(order),
            abi.encodeWithSelector(IGeoVault.WrongOrigin.selector, order.escrow, order.originVault)
        );
    }

    function test_noCallGetsInWhileAnOrderIsFilled() public {
        Order memory order = _orderFromThere();
        order.outputToken = word(address(hook));
        hook.setHook(intruder);
        manager.grantRole(OPERATOR_ROLE, address(intruder), 0);
        Order memory second = _orderFromThere();
        second.swapKey = "second";
        Intruder.Call[] memory calls = new Intruder.Call[](1);
        calls[0] = Intruder.Call(address(vault), 0, abi.encodeCall(IGeoVault.fill, (_inventoryFill(second))));
        intruder.arm(calls);
        _fill(_inventoryFill(order));
        vm.assertEq(intruder.attempts(), 1, "tried");
        vm.assertEq(
            bytes32(bytes4(intruder.lastError())),
            bytes32(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector),
            "for another reason"
        );
        _isState(second, VaultState.None);
    }

    function test_aListFillsWhatItCanAndSaysWhyNotTheRest() public {
        Order memory good = _orderFromThere();
        Order memory expensive = _orderFromThere();
        (expensive.swapKey, expensive.minOutput) = ("expensive", 2e24);
        Order memory elsewhere = _orderFromThere();
        (elsewhere.swapKey, elsewhere.destinationChainId) = ("elsewhere", THERE);
        Fill[] memory items = new Fill[](4);
        (items[0], items[1]) = (_inventoryFill(expensive), _inventoryFill(good));
        (items[2], items[3]) = (_inventoryFill(good), _inventoryFill(elsewhere));

        vm.expectEmit(address(vault));
        emit IGeoVault.Skipped(expensive.orderId(), CapExceeded.selector);
        vm.expectEmit(address(vault));
        emit IGeoVault.Filled(good.orderId(), good.minOutput, address(other), good.minOutput);
        vm.expectEmit(address(vault));
        emit IGeoVault.Skipped(good.orderId(), IGeoVault.AlreadyDecided.selector);
        vm.expectEmit(address(vault));
        emit IGeoVault.Skipped(elsewhere.orderId(), IGeoVault.WrongVault.selector);
        vm.prank(operator);
        vault.fillMany(items);
        _isState(expensive, VaultState.None);
        vm.assertEq(other.balanceOf(recipient), good.minOutput, "delivered once");
    }

    function test_aFailureWithoutAReasonIsPassedOverToo() public {
        Order memory order = _orderFromThere();
        order.outputToken = word(_actor("no token"));
        _cap(_actor("no token"), 1e24);
        Fill[] memory items = new Fill[](1);
        items[0] = _inventoryFill(order);
        vm.expectEmit(address(vault));
        emit IGeoVault.Skipped(order.orderId(), 0);
        vm.prank(operator);
        vault.fillMany(items);
    }

    function test_onlyTheVaultItselfFillsOneItem() public {
        vm.expectRevert(IGeoVault.OnlySelf.selector);
        vm.prank(operator);
        vault.fillOne(_inventoryFill(_orderFromThere()));
    }
}
