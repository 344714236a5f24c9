// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {CapExceeded} from "../../src/Cap.sol";
import {Order} from "../../src/Order.sol";
import {Fill, IGeoVault, VaultState} from "../../src/interfaces/IGeoVault.sol";
import {word} from "../base/orders.sol";
import {Scene} from "../base/Scene.sol";
import {Vm, vm} from "../base/Vm.sol";
import {Intruder} from "../mocks/Intruder.sol";
import {Reenterer} from "../mocks/Reenterer.sol";

/// @dev Takes the native token with nearly all the gas that a payment is handed.
contract HungryWallet {
    uint256 public first;
    uint256 public second;

    receive() external payable {
        (first, second) = (1, 1);
    }
}

contract GeoVaultTopUpTest is Scene {
    uint256 private constant TOP_UP = 0.01 ether;

    function test_aTopUpIsPaidWithTheFill() public {
        Order memory order = _orderWithTopUp();
        vm.expectEmit(address(vault));
        emit IGeoVault.Filled(order.orderId(), order.minOutput, address(other), order.minOutput);
        vm.expectEmit(address(vault));
        emit IGeoVault.ToppedUp(order.orderId(), TOP_UP, true);
        _fill(_inventoryFill(order));
        vm.assertEq(other.balanceOf(recipient), order.minOutput, "delivered");
        vm.assertEq(recipient.balance, TOP_UP, "topped up");
    }

    function test_anOrderWithoutATopUpIsPaidNone() public {
        vm.recordLogs();
        _fill(_inventoryFill(_orderFromThere()));
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            vm.assertNotEq(logs[i].topics[0], IGeoVault.ToppedUp.selector, "topped up");
        }
        vm.assertEq(recipient.balance, 0, "paid");
    }

    function test_aTopUpIsPaidOnceAsItsFillIs() public {
        Order memory order = _orderWithTopUp();
        _fill(_inventoryFill(order));
        _fillReverts(_inventoryFill(order), abi.encodeWithSelector(IGeoVault.AlreadyDecided.selector, order.orderId()));
        vm.assertEq(recipient.balance, TOP_UP, "topped up");
    }

    function test_aTopUpCountsInTheCapOnFillsOfTheNativeToken() public {
        _cap(NATIVE, uint96(2 * TOP_UP - 1));
        Order memory order = _orderWithTopUp();
        _fill(_inventoryFill(order));
        vm.assertEq(_available(NATIVE), TOP_UP - 1, "available");
        vm.assertEq(_available(address(other)), 1e24 - order.minOutput, "available of the output");
        order.swapKey = "second";
        _fillReverts(_inventoryFill(order), abi.encodeWithSelector(CapExceeded.selector, TOP_UP, TOP_UP - 1));
        _isState(order, VaultState.None);
        vm.assertEq(_available(address(other)), 1e24 - order.minOutput, "available of the output");
    }

    function test_withoutACapOnTheNativeTokenNothingIsToppedUp() public {
        _cap(NATIVE, 0);
        _fillReverts(_inventoryFill(_orderWithTopUp()), abi.encodeWithSelector(CapExceeded.selector, TOP_UP, 0));
    }

    function test_aNativeOutputAndItsTopUpAreBothPaidAndBothCounted() public {
        Order memory order = _orderWithTopUp();
        (order.outputToken, order.minOutput) = (0, 1 ether);
        _cap(NATIVE, uint96(1 ether + TOP_UP - 1));
        _fillReverts(_inventoryFill(order), abi.encodeWithSelector(CapExceeded.selector, TOP_UP, TOP_UP - 1));
        _cap(NATIVE, uint96(1 ether + TOP_UP));
        _fill(_inventoryFill(order));
        vm.assertEq(recipient.balance, 1 ether + TOP_UP, "paid");
        vm.assertEq(_available(NATIVE), 0, "available");
    }

    function test_aTopUpBesideABoughtOutputCountsByItself() public {
        Order memory order = _orderWithTopUp();
        order.outputToken = 0;
        uint256 native = _available(NATIVE);
        uint256 settlement = _available(address(plain));
        Fill memory item = Fill({order: order, amount: order.minOutput, minOutput: 0, poolFee: 500, secondPoolFee: 0});
        _fill(item);
        vm.assertEq(recipient.balance, order.minOutput + TOP_UP, "paid");
        vm.assertEq(native - _available(NATIVE), TOP_UP, "of the native token");
        vm.assertEq(settlement - _available(address(plain)), order.minOutput, "of the settlement token");
    }

    function test_aTopUpIsPaidWithADeliveryOnOneChain() public {
        Order memory order = _orderHere();
        order.topUp = TOP_UP;
        _open(order);
        _fill(_inventoryFill(order));
        vm.assertEq(recipient.balance, TOP_UP, "topped up");
    }

    function test_aRecipientThatRefusesATopUpGoesWithoutAndIsFilled() public {
        for (uint8 mode = 1; mode < 4; ++mode) {
            intruder.setOnReceive(Intruder.OnReceive(mode));
            Order memory order = _orderWithTopUp();
            (order.recipient, order.swapKey) = (word(address(intruder)), bytes32(uint256(mode)));
            uint256 before = address(vault).balance;
            uint256 available = _available(NATIVE);
            vm.expectEmit(address(vault));
            emit IGeoVault.ToppedUp(order.orderId(), TOP_UP, false);
            _fill(_inventoryFill(order));
            _isState(order, VaultState.Filled);
            vm.assertEq(other.balanceOf(address(intruder)), mode * order.minOutput, "delivered");
            vm.assertEq(address(vault).balance, before, "the vault paid");
            vm.assertEq(available - _available(NATIVE), TOP_UP, "counted");
        }
    }

    function test_aRecipientThatBurnsGasCostsABoundedAmount() public {
        intruder.setOnReceive(Intruder.OnReceive.BurnGas);
        Order memory order = _orderWithTopUp();
        order.recipient = word(address(intruder));
        vm.prank(operator);
        vault.fill{gas: 400_000}(_inventoryFill(order));
        _isState(order, VaultState.Filled);
    }

    function test_aRecipientThatCallsBackGainsNothing() public {
        Reenterer reenterer = new Reenterer();
        manager.grantRole(OPERATOR_ROLE, address(reenterer), 0);
        manager.grantRole(TREASURER_ROLE, address(reenterer), 0);
        manager.grantRole(TREASURY_ROLE, address(reenterer), 0);
        bytes[3] memory inner = [
            abi.encodeCall(IGeoVault.fillMany, (new Fill[](0))),
            abi.encodeCall(IGeoVault.send, ("inner", NATIVE, address(reenterer), 1)),
            abi.encodeCall(IGeoVault.withdraw, (NATIVE, address(reenterer), 1))
        ];
        for (uint256 i = 0; i < inner.length; ++i) {
            Order memory order = _orderWithTopUp();
            (order.recipient, order.swapKey) = (word(address(reenterer)), bytes32(i));
            reenterer.arm(address(vault), inner[i], ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
            vm.expectCall(address(vault), inner[i]);
            vm.expectEmit(address(vault));
            emit IGeoVault.ToppedUp(order.orderId(), TOP_UP, true);
            _fill(_inventoryFill(order));
            vm.assertEq(address(reenterer).balance, (i + 1) * TOP_UP, "topped up once");
        }
    }

    function test_aVaultWithoutTheTopUpDoesNotFill() public {
        Order memory order = _orderWithTopUp();
        vm.deal(address(vault), TOP_UP - 1);
        _fillReverts(_inventoryFill(order), abi.encodeWithSelector(IGeoVault.NoNative.selector, TOP_UP - 1, TOP_UP));
        _isState(order, VaultState.None);
        vm.assertEq(other.balanceOf(recipient), 0, "delivered");
        vm.deal(address(vault), TOP_UP);
        _fill(_inventoryFill(order));
        vm.assertEq(recipient.balance, TOP_UP, "topped up");
    }

    function test_aNativeOutputIsNotPaidOutOfTheTopUp() public {
        Order memory order = _orderWithTopUp();
        (order.outputToken, order.minOutput) = (0, 1 ether);
        vm.deal(address(vault), 1 ether + TOP_UP - 1);
        _fillReverts(_inventoryFill(order), abi.encodeWithSelector(IGeoVault.NoNative.selector, TOP_UP - 1, TOP_UP));
        vm.assertEq(recipient.balance, 0, "paid");
    }

    function test_noGasLimitMakesARecipientThatAcceptsLookLikeOneThatRefuses() public {
        uint256 starved = 0;
        uint256 paid = 0;
        for (uint256 gas = 100_000; gas < 500_000; gas += 5000) {
            Order memory order = _orderWithTopUp();
            address hungry = address(new HungryWallet());
            (order.recipient, order.swapKey) = (word(hungry), bytes32(gas));
            vm.prank(operator);
            (bool ok, bytes memory answer) =
                address(vault).call{gas: gas}(abi.encodeCall(IGeoVault.fill, (_inventoryFill(order))));
            if (ok) ++paid;
            else if (bytes4(answer) == IGeoVault.InsufficientGas.selector) ++starved;
            vm.assertEq(hungry.balance, ok ? TOP_UP : 0, "filled without the top-up");
            _isState(order, ok ? VaultState.Filled : VaultState.None);
        }
        vm.assertTrue(starved != 0 && paid != 0, "not both were seen");
    }

    function test_anItemOfAListThatIsStarvedIsPassedOver() public {
        uint256 skipped = 0;
        for (uint256 gas = 300_000; gas < 900_000; gas += 20_000) {
            Fill[] memory items = new Fill[](2);
            address[2] memory hungry = [address(new HungryWallet()), address(new HungryWallet())];
            for (uint256 i = 0; i < items.length; ++i) {
                Order memory order = _orderWithTopUp();
                (order.recipient, order.swapKey) = (word(hungry[i]), bytes32(2 * gas + i));
                items[i] = _inventoryFill(order);
            }
            vm.prank(operator);
            (bool ok,) = address(vault).call{gas: gas}(abi.encodeCall(IGeoVault.fillMany, (items)));
            for (uint256 i = 0; i < items.length; ++i) {
                bool isFilled = vault.orderState(items[i].order.orderId()) == VaultState.Filled;
                vm.assertEq(hungry[i].balance, isFilled ? TOP_UP : 0, "filled without the top-up");
                if (ok && !isFilled) ++skipped;
            }
        }
        vm.assertTrue(skipped != 0, "no item was starved");
    }

    function _orderWithTopUp() private view returns (Order memory order) {
        order = _orderFromThere();
        order.topUp = TOP_UP;
    }
}
