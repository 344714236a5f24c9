// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CapKind, IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {Moves} from "../base/Moves.sol";
import {vm} from "../base/Vm.sol";
import {IRoute} from "../base/World.sol";
import {Messenger} from "../mocks/Messenger.sol";

contract CctpRouteTest is Moves {
    uint256 private constant AMOUNT = 1_000_000e6;
    uint256 private constant MAX_FEE = 1400e6;

    function test_aRouteKnowsWhatItWasDeployedWith() public view {
        vm.assertEq(route.VAULT(), address(vault), "vault");
        vm.assertEq(route.MESSENGER(), address(messenger), "messenger");
        vm.assertEq(route.TOKEN(), address(plain), "token");
        vm.assertEq(route.DOMAIN(), DOMAIN, "domain");
        vm.assertEq(route.RECIPIENT(), VAULT_THERE, "recipient");
        vm.assertEq(route.MAX_FEE_BPS(), ROUTE_FEE_BPS, "maximum fee");
    }

    function testFuzz_moneyGoesOnlyToTheRoutesRecipientAndAnyoneMayMintIt(
        uint256 amount,
        uint256 fee,
        uint32 minFinalityThreshold
    ) public {
        amount = 1 + amount % 1e24;
        fee = fee % (amount * ROUTE_FEE_BPS / 10_000 + 1);
        _bridge("bridge", address(plain), address(route), amount, abi.encode(fee, minFinalityThreshold));
        vm.assertEq(messenger.count(), 1, "burns");
        Messenger.Burn memory burn = messenger.last();
        vm.assertEq(burn.amount, amount, "amount");
        vm.assertEq(burn.domain, DOMAIN, "domain");
        vm.assertEq(burn.recipient, VAULT_THERE, "recipient");
        vm.assertEq(burn.token, address(plain), "token");
        vm.assertEq(burn.destinationCaller, 0, "destination caller");
        vm.assertEq(burn.maxFee, fee, "fee");
        vm.assertEq(burn.minFinalityThreshold, minFinalityThreshold, "finality");
        vm.assertEq(burn.depositor, address(route), "depositor");
        vm.assertEq(plain.balanceOf(address(messenger)), amount, "burned");
        vm.assertEq(plain.balanceOf(address(route)), 0, "left in the route");
        vm.assertEq(plain.allowance(address(route), address(messenger)), 0, "allowance left");
    }

    function test_onlyTheVaultUsesTheRoute() public {
        plain.mint(address(route), AMOUNT);
        address[4] memory callers = [treasurer, admin, stranger, address(messenger)];
        for (uint256 i = 0; i < callers.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IRoute.OnlyVault.selector, callers[i]));
            vm.prank(callers[i]);
            route.forward(address(plain), AMOUNT, FINAL);
        }
    }

    function test_onlyTheRoutesTokenIsTaken() public {
        _cap(CapKind.Bridge, address(other), address(route), MOVE_CAP);
        vm.expectRevert(abi.encodeWithSelector(IRoute.WrongToken.selector, address(other)));
        _bridge("bridge", address(other), address(route), AMOUNT, FINAL);
        vm.assertEq(other.balanceOf(address(route)), 0, "stuck in the route");
        _cap(CapKind.Bridge, NATIVE, address(route), MOVE_CAP);
        vm.expectRevert(abi.encodeWithSelector(IGeoVault.NativeTransferFailed.selector, address(route)));
        _bridge("bridge", NATIVE, address(route), AMOUNT, FINAL);
    }

    function test_theFeeIsAtMostTheRoutesMaximum() public {
        vm.expectRevert(abi.encodeWithSelector(IRoute.FeeTooHigh.selector, MAX_FEE + 1, MAX_FEE));
        _bridge("bridge", address(plain), address(route), AMOUNT, abi.encode(MAX_FEE + 1, 1000));
        _bridge("bridge", address(plain), address(route), AMOUNT, abi.encode(MAX_FEE, 1000));
        vm.assertEq(messenger.last().maxFee, MAX_FEE, "fee");
        // Less than a unit is no fee.
        vm.expectRevert(abi.encodeWithSelector(IRoute.FeeTooHigh.selector, 1, 0));
        _bridge("small bridge", address(plain), address(route), 714, abi.encode(1, 1000));
    }

    function test_dataThatTheRouteDoesNotReadIsRefused() public {
        bytes[3] memory data = [bytes(""), abi.encode(0), abi.encode(0, uint256(type(uint32).max) + 1)];
        for (uint256 i = 0; i < data.length; ++i) {
            vm.expectRevert();
            _bridge("bridge", address(plain), address(route), AMOUNT, data[i]);
        }
        vm.assertEq(messenger.count(), 0, "burned");
    }

    function test_aMessengerThatRefusesKeepsNothingOfTheVaults() public {
        uint256 before = plain.balanceOf(address(vault));
        messenger.setKnown(DOMAIN, false);
        vm.expectRevert("No TokenMessenger for domain");
        _bridge("bridge", address(plain), address(route), AMOUNT, FINAL);
        vm.assertEq(plain.balanceOf(address(vault)), before, "taken");
        vm.assertTrue(!vault.isMoved("bridge"), "noted");
    }

    function test_whatOthersLeaveInTheRouteIsNotBurned() public {
        plain.mint(address(route), 7);
        _bridge("bridge", address(plain), address(route), AMOUNT, FINAL);
        vm.assertEq(plain.balanceOf(address(messenger)), AMOUNT, "burned");
        vm.assertEq(plain.balanceOf(address(route)), 7, "left alone");
    }

    function test_aMessengerThatLeavesAPartReachesThatPartAlone() public {
        messenger.setTaken(9000);
        _bridge("bridge", address(plain), address(route), AMOUNT, FINAL);
        vm.assertEq(plain.balanceOf(address(route)), AMOUNT / 10, "left in the route");
        vm.assertEq(plain.allowance(address(route), address(messenger)), AMOUNT / 10, "allowance left");
        vm.assertEq(plain.allowance(address(vault), address(messenger)), 0, "allowance of the vault");
        vm.assertEq(plain.allowance(address(vault), address(route)), 0, "allowance of the vault");
        // The next burn begins with its own allowance.
        messenger.setTaken(10_000);
        _bridge("next bridge", address(plain), address(route), AMOUNT, FINAL);
        vm.assertEq(plain.allowance(address(route), address(messenger)), 0, "allowance left");
    }
}
