// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Cap, CapExceeded} from "../../src/Cap.sol";
import {vm} from "../base/Vm.sol";

/// @dev One cap, without a vault around it that would refuse an amount of zero first.
contract OneCap {
    Cap private cap;

    function set(uint96 perHour) external {
        cap.set(perHour);
    }

    function spend(uint256 amount) external {
        cap.spend(amount);
    }

    function available() external view returns (uint256) {
        Cap memory copy = cap;
        return copy.available();
    }
}

contract CapTest {
    OneCap private cap = new OneCap();

    function test_withoutACapNotEvenZeroLeaves() public {
        vm.expectRevert(abi.encodeWithSelector(CapExceeded.selector, 0, 0));
        cap.spend(0);
        cap.set(1);
        cap.spend(0);
        cap.set(0);
        vm.expectRevert(abi.encodeWithSelector(CapExceeded.selector, 0, 0));
        cap.spend(0);
    }

    function test_theGreatestCapIsCountedAndDrainsInAnHour() public {
        cap.set(type(uint96).max);
        cap.spend(type(uint96).max);
        vm.assertEq(cap.available(), 0, "at once");
        vm.warp(vm.getBlockTimestamp() + 1 hours);
        vm.assertEq(cap.available(), type(uint96).max, "an hour later");
        vm.expectRevert(abi.encodeWithSelector(CapExceeded.selector, uint256(type(uint96).max) + 1, type(uint96).max));
        cap.spend(uint256(type(uint96).max) + 1);
    }

    /// @dev After a cap is lowered, use above the lower cap counts as the whole cap, and not as more.
    function testFuzz_aCapThatIsLoweredAndRaisedKeepsWhatWasUsedUpToTheLowerOne(uint96 high, uint96 low, uint96 spent)
        public
    {
        vm.assume(high != 0 && low < high);
        spent = uint96(uint256(spent) % (uint256(high) + 1));
        cap.set(high);
        cap.spend(spent);
        cap.set(low);
        cap.set(high);
        vm.assertEq(cap.available(), high - (spent < low ? spent : low), "available");
    }
}
