// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {CapExceeded} from "../../src/Cap.sol";
import {CapKind, Fill, IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {ISwapRouter} from "../../src/interfaces/ISwapRouter.sol";
import {Moves} from "../base/Moves.sol";
import {vm} from "../base/Vm.sol";
import {Intruder} from "../mocks/Intruder.sol";
import {Router} from "../mocks/Router.sol";
import {Token} from "../mocks/Token.sol";

contract GeoVaultTradeTest is Moves {
    uint256 private constant AMOUNT = 1000e6;
    /// What the feeds' price of AMOUNT is, less the slippage.
    uint256 private constant FLOOR = 995e6;

    function test_aTradeSellsWhatItIsToldAndKeepsWhatArrives() public {
        uint256 sold = other.balanceOf(address(vault));
        uint256 bought = plain.balanceOf(address(vault));
        router.set(9980, 10_000, 0, 0);
        vm.expectEmit(address(vault));
        emit IGeoVault.Traded("sale", address(other), address(plain), AMOUNT, 998e6, FLOOR);
        vm.assertEq(_trade("sale", address(other), address(plain), AMOUNT, 0), 998e6, "returned");
        vm.assertEq(sold - other.balanceOf(address(vault)), AMOUNT, "sold");
        vm.assertEq(plain.balanceOf(address(vault)) - bought, 998e6, "bought");
        vm.assertTrue(vault.isMoved("sale"), "noted");
        vm.assertEq(
            keccak256(router.path()), keccak256(abi.encodePacked(address(other), POOL_FEE, address(plain))), "path"
        );
    }

    function test_aTradeReturnsAtLeastTheFloorWhateverTheRouterSays() public {
        router.set(9949, 10_000, 1e24, 0);
        bytes memory reason = abi.encodeWithSelector(IGeoVault.TooLittleReceived.selector, FLOOR - 1e5, FLOOR);
        _tradeReverts(address(other), address(plain), AMOUNT, reason);
        _tradeReverts(address(plain), address(other), AMOUNT, reason);
        router.set(9950, 10_000, 1e24, 0);
        vm.assertEq(_trade(address(other), address(plain), AMOUNT), FLOOR, "the router's word was taken");
        vm.assertEq(_trade(address(plain), address(other), AMOUNT), FLOOR, "the router's word was taken");
    }

    function test_aTradeReturnsAtLeastTheCallersMinimumWhateverTheRouterSays() public {
        router.set(9989, 10_000, 1e24, 0);
        vm.expectRevert(abi.encodeWithSelector(IGeoVault.TooLittleReceived.selector, 998.9e6, 999e6));
        _trade("sale", address(other), address(plain), AMOUNT, 999e6);
        router.set(9990, 10_000, 0, 0);
        vm.expectEmit(address(vault));
        emit IGeoVault.Traded("sale", address(other), address(plain), AMOUNT, 999e6, 999e6);
        _trade("sale", address(other), address(plain), AMOUNT, 999e6);
    }

    function test_aCallersMinimumBelowTheFloorChangesNothing() public {
        router.set(9949, 10_000, 1e24, 0);
        vm.expectRevert(abi.encodeWithSelector(IGeoVault.TooLittleReceived.selector, FLOOR - 1e5, FLOOR));
        _trade("sale", address(other), address(plain), AMOUNT, FLOOR - 1e5);
    }

    function test_theRouterIsHeldToTheHigherMinimum() public {
        ISwapRouter.ExactInputParams memory params = ISwapRouter.ExactInputParams({
            path: abi.encodePacked(address(other), POOL_FEE, address(plain)),
            recipient: address(vault),
            amountIn: AMOUNT,
            amountOutMinimum: FLOOR
        });
        vm.expectCall(address(router), abi.encodeCall(ISwapRouter.exactInput, (params)));
        _trade(address(other), address(plain), AMOUNT);
        params.amountOutMinimum = FLOOR + 1;
        vm.expectCall(address(router), abi.encodeCall(ISwapRouter.exactInput, (params)));
        _trade("sale", address(other), address(plain), AMOUNT, FLOOR + 1);
        router.set(9949, 10_000, 0, 0);
        _tradeReverts(address(other), address(plain), AMOUNT, abi.encodeWithSelector(Router.TooLittleOut.selector));
    }

    function test_aRouterThatPaysItselfGetsNothing() public {
        uint256 before = other.balanceOf(address(vault));
        router.setPayee(address(router));
        _tradeReverts(
            address(other),
            address(plain),
            AMOUNT,
            abi.encodeWithSelector(IGeoVault.TooLittleReceived.selector, 0, FLOOR)
        );
        vm.assertEq(other.balanceOf(address(vault)), before, "taken");
    }

    function test_aBudgetThatTheFirstPoolLeavesIsRefusedHoweverWellItIsPaid() public {
        uint256[2] memory taken = [uint256(9000), 0];
        for (uint256 i = 0; i < taken.length; ++i) {
            router.set(10_000, taken[i], 0, 0);
            router.setExactOut(2 * AMOUNT);
            _tradeReverts(
                address(other),
                address(plain),
                AMOUNT,
                abi.encodeWithSelector(IGeoVault.BudgetNotSpent.selector, AMOUNT * (10_000 - taken[i]) / 10_000)
            );
        }
    }

    function test_aBudgetThatTheSecondPoolLeavesInTheRouterIsRefused() public {
        router.set(20_000, 10_000, 0, 3);
        vm.expectRevert(abi.encodeWithSelector(IGeoVault.BudgetNotSpent.selector, 3));
        _tradeByTwoPools("sale");
        vm.assertTrue(!vault.isMoved("sale"), "noted");
    }

    function test_whatOthersLeftInTheRouterIsNotCounted() public {
        router.POOLS().pay(address(wrapped), address(router), 5);
        _tradeByTwoPools("sale");
        vm.assertEq(
            keccak256(router.path()),
            keccak256(abi.encodePacked(address(other), POOL_FEE, address(wrapped), uint24(3000), address(plain))),
            "path"
        );
    }

    function test_noAllowanceStays() public {
        // This token refuses to change an allowance that stands.
        _feed(address(noReturn), otherFeed);
        _cap(CapKind.Trade, address(noReturn), NATIVE, MOVE_CAP);
        for (uint256 i = 0; i < 2; ++i) {
            _trade(address(noReturn), address(plain), AMOUNT);
            _trade(address(plain), address(noReturn), AMOUNT);
            vm.assertEq(noReturn.allowance(address(vault), address(router)), 0, "of the token");
            vm.assertEq(plain.allowance(address(vault), address(router)), 0, "of the settlement token");
        }
        _tradeByTwoPools("two pools");
        vm.assertEq(other.allowance(address(vault), address(router)), 0, "after two pools");
        router.setExactOut(3000e6);
        _trade(NATIVE, address(plain), 1 ether);
        vm.assertEq(wrapped.allowance(address(vault), address(router)), 0, "of the wrapped token");
    }

    function test_whatCountsIsWhatArrives() public {
        _feed(address(fee), otherFeed);
        fee.setFee(100);
        _tradeReverts(
            address(plain),
            address(fee),
            AMOUNT,
            abi.encodeWithSelector(IGeoVault.TooLittleReceived.selector, 990e6, FLOOR)
        );
    }

    function test_theNativeTokenIsSold() public {
        uint256 before = address(vault).balance;
        router.setExactOut(2990e6);
        vm.expectEmit(address(vault));
        emit IGeoVault.Traded("sale", NATIVE, address(plain), 1 ether, 2990e6, 2985e6);
        _trade("sale", NATIVE, address(plain), 1 ether, 0);
        vm.assertEq(before - address(vault).balance, 1 ether, "sold");
        vm.assertEq(wrapped.balanceOf(address(vault)), 0, "left wrapped");
        vm.assertEq(
            keccak256(router.path()), keccak256(abi.encodePacked(address(wrapped), POOL_FEE, address(plain))), "path"
        );
        router.set(0, 10_000, 1e24, 0);
        router.setExactOut(2985e6 - 1);
        _tradeReverts(
            NATIVE,
            address(plain),
            1 ether,
            abi.encodeWithSelector(IGeoVault.TooLittleReceived.selector, 2985e6 - 1, 2985e6)
        );
    }

    function test_theNativeTokenIsBought() public {
        uint256 before = address(vault).balance;
        router.setExactOut(0.996 ether);
        vm.expectEmit(address(vault));
        emit IGeoVault.Traded("refill", address(plain), NATIVE, 3000e6, 0.996 ether, 0.995 ether);
        _trade("refill", address(plain), NATIVE, 3000e6, 0);
        vm.assertEq(address(vault).balance - before, 0.996 ether, "bought");
        vm.assertEq(wrapped.balanceOf(address(vault)), 0, "left wrapped");
        router.set(0, 10_000, 1e24, 0);
        router.setExactOut(0.995 ether - 1);
        _tradeReverts(
            address(plain),
            NATIVE,
            3000e6,
            abi.encodeWithSelector(IGeoVault.TooLittleReceived.selector, 0.995 ether - 1, 0.995 ether)
        );
    }

    function test_moreThanTheVaultHasIsNotTraded() public {
        vm.deal(address(vault), 1 ether - 1);
        vm.expectRevert();
        _trade("sale", NATIVE, address(plain), 1 ether, 0);
        vm.prank(treasury);
        vault.withdraw(address(other), stranger, 1e24 - 1);
        vm.expectRevert(Token.InsufficientBalance.selector);
        _trade("sale", address(other), address(plain), 2, 0);
        vm.assertTrue(!vault.isMoved("sale"), "noted");
    }

    function test_oneSideOfATradeIsTheSettlementToken() public {
        address[2][4] memory pairs = [
            [address(plain), address(plain)],
            [address(other), NATIVE],
            [NATIVE, NATIVE],
            [address(wrapped), address(other)]
        ];
        for (uint256 i = 0; i < pairs.length; ++i) {
            bytes memory reason = abi.encodeWithSelector(IGeoVault.WrongPair.selector, pairs[i][0], pairs[i][1]);
            _tradeReverts(pairs[i][0], pairs[i][1], AMOUNT, reason);
            vm.expectRevert(reason);
            vault.tradeFloor(pairs[i][0], pairs[i][1], AMOUNT);
        }
    }

    function test_aTradeIsMadeUpToItsDeadline() public {
        vm.warp(NOW + 1);
        vm.expectRevert(abi.encodeWithSelector(IGeoVault.TradeExpired.selector, NOW));
        _tradeBy("sale", NOW);
        _tradeBy("sale", NOW + 1);
    }

    function test_aTradeOfNothingIsRefused() public {
        _tradeReverts(address(other), address(plain), 0, abi.encodeWithSelector(IGeoVault.ZeroAmount.selector));
    }

    function test_aTradeOfDustReturnsAtLeastOneUnit() public {
        other.setDecimals(18);
        _feed(address(other), otherFeed);
        vm.assertEq(vault.tradeFloor(address(other), address(plain), 1), 1, "floor");
        router.set(0, 10_000, 1, 0);
        _tradeReverts(
            address(other), address(plain), 1, abi.encodeWithSelector(IGeoVault.TooLittleReceived.selector, 0, 1)
        );
    }

    function test_aTradeIsWithinTheCapOfWhatIsSold() public {
        _cap(CapKind.Trade, address(other), NATIVE, uint96(AMOUNT));
        _tradeReverts(
            address(other), address(plain), AMOUNT + 1, abi.encodeWithSelector(CapExceeded.selector, AMOUNT + 1, AMOUNT)
        );
        _trade(address(other), address(plain), AMOUNT);
        _tradeReverts(address(other), address(plain), 1, abi.encodeWithSelector(CapExceeded.selector, 1, 0));
        // What is bought counts nowhere.
        vm.assertEq(_available(CapKind.Trade, address(plain), NATIVE), MOVE_CAP, "of the settlement token");
        _trade(address(plain), address(other), AMOUNT);
        vm.warp(NOW + 1 hours);
        _trade(address(other), address(plain), AMOUNT);
    }

    function test_aTokenWithoutACapOnTradesIsNotSold() public {
        _feed(address(fee), otherFeed);
        _tradeReverts(address(fee), address(plain), 1, abi.encodeWithSelector(CapExceeded.selector, 1, 0));
    }

    function test_aTokenThatCallsBackDuringATradeGainsNothing() public {
        _feed(address(hook), otherFeed);
        _cap(CapKind.Trade, address(hook), NATIVE, MOVE_CAP);
        hook.setHook(intruder);
        manager.grantRole(TREASURER_ROLE, address(intruder), 0);
        manager.grantRole(TREASURY_ROLE, address(intruder), 0);
        manager.grantRole(OPERATOR_ROLE, address(intruder), 0);
        bytes[5] memory inner = [
            abi.encodeCall(IGeoVault.trade, ("inner", address(other), address(plain), AMOUNT, 0, POOL_FEE, 0, NOW)),
            abi.encodeCall(IGeoVault.send, ("inner", address(other), relayer, 1)),
            abi.encodeCall(IGeoVault.bridge, ("inner", address(plain), address(route), 1, FINAL)),
            abi.encodeCall(IGeoVault.withdraw, (address(plain), stranger, 1)),
            abi.encodeCall(IGeoVault.fillMany, (new Fill[](0)))
        ];
        for (uint256 i = 0; i < inner.length; ++i) {
            Intruder.Call[] memory calls = new Intruder.Call[](1);
            calls[0] = Intruder.Call(address(vault), 0, inner[i]);
            intruder.arm(calls);
            _trade(address(hook), address(plain), AMOUNT);
            vm.assertEq(intruder.attempts(), i + 1, "tried");
            vm.assertEq(
                bytes32(bytes4(intruder.lastError())),
                bytes32(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector),
                "for another reason"
            );
        }
        vm.assertEq(intruder.successes(), 0, "a call got in");
        vm.assertTrue(!vault.isMoved("inner"), "moved");
    }

    function _tradeByTwoPools(bytes32 moveId) private {
        vm.prank(treasurer);
        vault.trade(moveId, address(other), address(plain), AMOUNT, 0, POOL_FEE, 3000, NOW);
    }

    function _tradeBy(bytes32 moveId, uint256 deadline) private {
        vm.prank(treasurer);
        vault.trade(moveId, address(other), address(plain), AMOUNT, 0, POOL_FEE, 0, deadline);
    }
}
