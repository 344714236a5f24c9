// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CapExceeded} from "../../src/Cap.sol";
import {Order} from "../../src/Order.sol";
import {Fill, IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {packDeadlines} from "../base/orders.sol";
import {Scene} from "../base/Scene.sol";
import {vm} from "../base/Vm.sol";

contract CapsFuzzTest is Scene {
    uint256[] private times;
    uint256[] private amounts;

    /// @dev Whatever is asked for and whenever: at most the cap at once, and at most twice the cap in any hour.
    function testFuzz_noHourLetsOutMoreThanTwiceTheCap(uint96 cap, uint256[12] memory asked, uint16[12] memory pauses)
        public
    {
        cap = uint96(1 + cap % 1e24);
        other.mint(address(vault), 1e30);
        _cap(address(other), cap);
        for (uint256 i = 0; i < asked.length; ++i) {
            vm.warp(vm.getBlockTimestamp() + pauses[i] % 3000);
            uint256 available = _available(address(other));
            // Often all that there is, and sometimes one more.
            uint256 amount = asked[i] % 3 == 0 ? available : 1 + asked[i] % (uint256(cap) + 1);
            if (asked[i] % 7 == 0) amount = available + 1;
            if (amount == 0) continue;
            Fill memory item = _item(i, amount);
            if (amount > available) {
                _fillReverts(item, abi.encodeWithSelector(CapExceeded.selector, amount, available));
                continue;
            }
            _fill(item);
            vm.assertLe(amount, cap, "cap: more left at once than the cap");
            vm.assertEq(_available(address(other)), available - amount, "cap: available");
            times.push(vm.getBlockTimestamp());
            amounts.push(amount);
            vm.assertLe(_withinTheHour(), 2 * uint256(cap), "cap: more left within an hour than twice the cap");
        }
    }

    function testFuzz_whatIsAvailableNeverExceedsTheCap(uint96 first, uint96 second, uint96 spent, uint32 later)
        public
    {
        vm.assume(first != 0 && spent != 0);
        spent = uint96(1 + (spent - 1) % first);
        other.mint(address(vault), spent);
        _cap(address(other), first);
        _fill(_item(0, spent));
        _cap(address(other), second);
        vm.assertLe(_available(address(other)), second, "more than the new cap");
        vm.warp(NOW + later);
        vm.assertLe(_available(address(other)), second, "more than the new cap, later");
        if (later >= 1 hours) vm.assertEq(_available(address(other)), second, "an hour later");
    }

    function _item(uint256 key, uint256 amount) private view returns (Fill memory) {
        Order memory order = _orderFromThere();
        (order.swapKey, order.minOutput) = (bytes32(key), amount);
        uint256 time = vm.getBlockTimestamp();
        order.deadlines = packDeadlines(time + 1, time + 2, time + 3);
        return _stockFill(order);
    }

    function _withinTheHour() private view returns (uint256 sum) {
        for (uint256 i = 0; i < times.length; ++i) {
            if (times[i] + 1 hours > vm.getBlockTimestamp()) sum += amounts[i];
        }
    }
}
