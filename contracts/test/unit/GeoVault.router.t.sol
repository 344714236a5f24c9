// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CapExceeded} from "../../src/Cap.sol";
import {Order} from "../../src/Order.sol";
import {Fill, IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {word} from "../base/orders.sol";
import {Scene} from "../base/Scene.sol";
import {vm} from "../base/Vm.sol";
import {Router} from "../mocks/Router.sol";

contract GeoVaultRouterTest is Scene {
    function test_aSwapDeliversAllProceeds() public {
        Order memory order = _orderFromThere();
        router.set(12_000, 10_000, 0, 0);
        Fill memory item = _swap(order, 0);
        vm.expectEmit(address(vault));
        emit IGeoVault.Filled(order.orderId(), item.amount * 12 / 10, address(plain), item.amount);
        _fill(item);
        vm.assertEq(other.balanceOf(recipient), item.amount * 12 / 10, "delivered");
        vm.assertEq(plain.allowance(address(vault), address(router)), 0, "allowance left");
        vm.assertEq(
            keccak256(router.path()), keccak256(abi.encodePacked(address(plain), uint24(3000), address(other))), "path"
        );
    }

    function test_aSecondHopPassesThroughTheWrappedToken() public {
        _fill(_swap(_orderFromThere(), 500));
        vm.assertEq(
            keccak256(router.path()),
            keccak256(abi.encodePacked(address(plain), uint24(3000), address(wrapped), uint24(500), address(other))),
            "path"
        );
    }

    function test_aSwapForTheNativeTokenIsUnwrapped() public {
        Order memory order = _orderFromThere();
        order.outputToken = 0;
        Fill memory item = _swap(order, 0);
        _fill(item);
        vm.assertEq(recipient.balance, item.amount, "delivered");
        vm.assertEq(wrapped.balanceOf(address(vault)), 0, "left wrapped");
        vm.assertEq(
            keccak256(router.path()),
            keccak256(abi.encodePacked(address(plain), uint24(3000), address(wrapped))),
            "path"
        );
    }

    function test_aBudgetThatTheFirstPoolLeavesIsRefused() public {
        router.set(20_000, 9_000, 0, 0);
        Fill memory item = _swap(_orderFromThere(), 0);
        _fillReverts(item, abi.encodeWithSelector(IGeoVault.BudgetNotSpent.selector, item.amount / 10));
    }

    function test_aBudgetThatTheSecondPoolLeavesIsRefused() public {
        router.set(20_000, 10_000, 0, 3);
        _fillReverts(_swap(_orderFromThere(), 500), abi.encodeWithSelector(IGeoVault.BudgetNotSpent.selector, 3));
    }

    function test_theRoutersWordIsNotTaken() public {
        Order memory order = _orderFromThere();
        router.set(9_000, 10_000, 1e24, 0);
        Fill memory item = _swap(order, 0);
        _fillReverts(
            item, abi.encodeWithSelector(IGeoVault.TooLittleDelivered.selector, item.amount * 9 / 10, order.minOutput)
        );
    }

    function test_theFillsOwnMinimumHolds() public {
        Fill memory item = _swap(_orderFromThere(), 0);
        item.minOutput = item.amount + 1;
        _fillReverts(item, abi.encodeWithSelector(Router.TooLittleOut.selector));
    }

    function test_onlyListedTokensAreSwappedFor() public {
        _cap(address(other), 0);
        _fillReverts(_swap(_orderFromThere(), 0), abi.encodeWithSelector(IGeoVault.NotListed.selector, address(other)));
    }

    function test_aSwapCountsAgainstTheCapOfWhatIsSpent() public {
        _cap(address(plain), 100);
        Fill memory item = _swap(_orderFromThere(), 0);
        _fillReverts(item, abi.encodeWithSelector(CapExceeded.selector, item.amount, 100));
    }

    function _swap(Order memory order, uint24 secondPoolFee) private pure returns (Fill memory) {
        return Fill({order: order, amount: order.minOutput, minOutput: 0, poolFee: 3000, secondPoolFee: secondPoolFee});
    }
}
