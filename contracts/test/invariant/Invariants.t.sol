// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {vm} from "../base/Vm.sol";
import {Handler} from "./Handler.sol";

/// @dev Random calls over two chains, six tokens and the native one, with wallets, tokens and vaults that misbehave.
abstract contract Invariants {
    struct FuzzSelector {
        address target;
        bytes4[] selectors;
    }

    Handler internal handler;

    function targetContracts() public view returns (address[] memory list) {
        list = new address[](1);
        list[0] = address(handler);
    }

    /// @dev It ends a campaign, and is no part of one.
    function excludeSelectors() public view returns (FuzzSelector[] memory list) {
        list = new FuzzSelector[](1);
        list[0] = FuzzSelector({target: address(handler), selectors: new bytes4[](1)});
        list[0].selectors[0] = Handler.everyoneLeaves.selector;
    }

    function invariant_noUnitIsLostOrPaidTwice() public view {
        vm.assertEq(handler.violation(), "");
        vm.assertTrue(handler.escrowsHoldWhatTheyOwe(), "I1: an escrow holds another amount than it owes");
        vm.assertTrue(handler.nativeBalancesAreAccountedFor(), "I9: a native balance is not what events say");
    }

    function afterInvariant() public {
        vm.assertTrue(handler.creditsAreAsBooked(), "I1: credits are not what events say");
        vm.assertTrue(handler.noAllowanceIsLeft(), "I13: an allowance was left");
        handler.everyoneLeaves();
        vm.assertEq(handler.violation(), "");
        _everyActionTookEffect();
    }

    /// @dev An invariant that nothing was tried against would hold of anything.
    function _everyActionTookEffect() private view {
        // A failure that is repeated or shortened is a campaign of a few calls.
        if (handler.calls() < 4000) return;
        string[] memory actions = handler.actions();
        for (uint256 i = 0; i < actions.length; ++i) {
            vm.assertTrue(handler.effects(actions[i]) != 0, string.concat("no effect: ", handler.report()));
        }
    }
}

/// @dev Many orders are open at the same time.
contract ManyOrdersInvariantsTest is Invariants {
    function setUp() public {
        handler = new Handler(24);
    }
}

/// @dev All actions meet on the same few orders.
contract FewOrdersInvariantsTest is Invariants {
    function setUp() public {
        handler = new Handler(5);
    }
}
