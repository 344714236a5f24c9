// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManager} from "@openzeppelin/contracts/access/manager/AccessManager.sol";
import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {CapExceeded} from "../../src/Cap.sol";
import {Order} from "../../src/Order.sol";
import {CapKind, Fill, IGeoVault, VaultState} from "../../src/interfaces/IGeoVault.sol";
import {Scene} from "../base/Scene.sol";
import {vm} from "../base/Vm.sol";
import {Intruder} from "../mocks/Intruder.sol";
import {Token} from "../mocks/Token.sol";

contract GeoVaultKeysTest is Scene {
    function test_eachFunctionIsItsOwnRolesAlone() public {
        Order memory order = _orderFromThere();
        bytes[13] memory calls = [
            abi.encodeCall(IGeoVault.fill, (_inventoryFill(order))),
            abi.encodeCall(IGeoVault.fillMany, (new Fill[](0))),
            abi.encodeCall(IGeoVault.void, (order)),
            abi.encodeCall(IGeoVault.voidMany, (new Order[](0))),
            abi.encodeCall(IGeoVault.pause, ()),
            abi.encodeCall(IGeoVault.unpause, ()),
            abi.encodeCall(IGeoVault.setCap, (CapKind.Fill, address(plain), NATIVE, 1)),
            abi.encodeCall(IGeoVault.withdraw, (address(plain), stranger, 1)),
            abi.encodeCall(IGeoVault.claimCredit, (address(plain), stranger)),
            abi.encodeCall(IGeoVault.setFeed, (address(plain), address(0), 0, 0)),
            abi.encodeCall(IGeoVault.trade, ("move", address(plain), address(other), 1, 0, 500, 0, NOW)),
            abi.encodeCall(IGeoVault.send, ("move", address(plain), stranger, 1)),
            abi.encodeCall(IGeoVault.bridge, ("move", address(plain), stranger, 1, ""))
        ];
        // Whose each call is, by the place in `callers`.
        uint8[13] memory owners = [0, 0, 0, 0, 1, 3, 4, 2, 2, 4, 5, 5, 5];
        address[8] memory callers = [operator, guardian, treasury, resume, config, treasurer, admin, stranger];
        for (uint256 i = 0; i < calls.length; ++i) {
            for (uint256 caller = 0; caller < callers.length; ++caller) {
                if (caller == owners[i]) continue;
                vm.expectRevert(
                    abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, callers[caller])
                );
                vm.prank(callers[caller]);
                (bool ok,) = address(vault).call(calls[i]);
                ok;
            }
        }
    }

    function test_aRoleGrantedWithADelayIsNotUsedAtOnce() public {
        address late = _actor("late operator");
        manager.grantRole(OPERATOR_ROLE, late, 1 days);
        Order memory order = _orderFromThere();
        vm.expectPartialRevert(IAccessManager.AccessManagerNotScheduled.selector);
        vm.prank(late);
        vault.void(order);
    }

    function test_onlyTheManagerHandsTheVaultToAnother() public {
        AccessManager next = _deployManager();
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, admin));
        vm.prank(admin);
        IAccessManaged(address(vault)).setAuthority(address(next));
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedInvalidAuthority.selector, stranger));
        manager.updateAuthority(address(vault), stranger);
        vm.expectEmit(address(vault));
        emit IAccessManaged.AuthorityUpdated(address(next));
        manager.updateAuthority(address(vault), address(next));
    }

    function test_theVaultKnowsWhatItWasDeployedWith() public view {
        vm.assertEq(vault.ESCROW(), address(escrow), "escrow");
        vm.assertEq(vault.ROUTER(), address(router), "router");
        vm.assertEq(vault.SETTLEMENT_TOKEN(), address(plain), "settlement token");
        vm.assertEq(vault.WRAPPED_NATIVE(), address(wrapped), "wrapped native");
    }

    function test_aVoidClosesAnOrderForGood() public {
        Order memory order = _orderFromThere();
        vm.expectEmit(address(vault));
        emit IGeoVault.Voided(order.orderId());
        vm.prank(operator);
        vault.void(order);
        _isState(order, VaultState.Voided);
        vm.expectRevert(abi.encodeWithSelector(IGeoVault.AlreadyDecided.selector, order.orderId()));
        vm.prank(operator);
        vault.void(order);
    }

    function test_anOrderOfAnotherVaultIsNotEvenMarked() public {
        Order memory order = _order();
        vm.expectRevert(
            abi.encodeWithSelector(IGeoVault.WrongVault.selector, order.destinationChainId, order.destinationVault)
        );
        vm.prank(operator);
        vault.void(order);
        _isState(order, VaultState.None);
    }

    function test_aListVoidsWhatItCanAndSaysWhyNotTheRest() public {
        Order memory order = _orderFromThere();
        Order memory elsewhere = _order();
        Order[] memory list = new Order[](3);
        (list[0], list[1], list[2]) = (order, order, elsewhere);
        vm.expectEmit(address(vault));
        emit IGeoVault.Voided(order.orderId());
        vm.expectEmit(address(vault));
        emit IGeoVault.Skipped(order.orderId(), IGeoVault.AlreadyDecided.selector);
        vm.expectEmit(address(vault));
        emit IGeoVault.Skipped(elsewhere.orderId(), IGeoVault.WrongVault.selector);
        vm.prank(operator);
        vault.voidMany(list);
    }

    function test_aPausedVaultVoidsButDoesNotFill() public {
        Order memory order = _orderFromThere();
        vm.expectEmit(address(vault));
        emit Pausable.Paused(guardian);
        vm.prank(guardian);
        vault.pause();
        vm.assertTrue(vault.paused(), "paused");
        _fillReverts(_inventoryFill(order), abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        vm.expectRevert(Pausable.EnforcedPause.selector);
        vm.prank(operator);
        vault.fillMany(new Fill[](0));
        vm.expectRevert(Pausable.EnforcedPause.selector);
        vm.prank(guardian);
        vault.pause();
        vm.prank(operator);
        vault.void(order);

        vm.expectEmit(address(vault));
        emit Pausable.Unpaused(resume);
        vm.prank(resume);
        vault.unpause();
        vm.expectRevert(Pausable.ExpectedPause.selector);
        vm.prank(resume);
        vault.unpause();
        order.swapKey = "after the pause";
        _fill(_inventoryFill(order));
    }

    function test_theCapIsReachedAndDrainsWithinAnHour() public {
        Order memory order = _orderFromThere();
        vm.expectEmit(address(vault));
        emit IGeoVault.CapSet(CapKind.Fill, address(other), NATIVE, order.minOutput);
        _cap(address(other), uint96(order.minOutput));
        (uint256 perHour,) = vault.capOf(CapKind.Fill, address(other), NATIVE);
        vm.assertEq(perHour, order.minOutput, "cap");
        _fill(_inventoryFill(order));
        vm.assertEq(_available(address(other)), 0, "available");
        order.swapKey = "second";
        _fillReverts(_inventoryFill(order), abi.encodeWithSelector(CapExceeded.selector, order.minOutput, 0));
        vm.warp(NOW + 30 minutes);
        vm.assertEq(_available(address(other)), order.minOutput / 2, "half an hour later");
        vm.warp(NOW + 1 hours);
        vm.assertEq(_available(address(other)), order.minOutput, "an hour later");
    }

    function test_aLowerCapIsUsedUpAtMost() public {
        Order memory order = _orderFromThere();
        _fill(_inventoryFill(order));
        _cap(address(other), 100);
        vm.assertEq(_available(address(other)), 0, "used up");
        vm.warp(NOW + 1 hours);
        vm.assertEq(_available(address(other)), 100, "an hour later");
    }

    function test_aTokenWithoutACapIsNotDelivered() public {
        Order memory order = _orderFromThere();
        _cap(address(other), 0);
        _fillReverts(_inventoryFill(order), abi.encodeWithSelector(CapExceeded.selector, order.minOutput, 0));
    }

    function test_theTreasuryTakesInventoryOut() public {
        vm.expectEmit(address(vault));
        emit IGeoVault.Withdrawn(address(plain), treasury, 5);
        vm.prank(treasury);
        vault.withdraw(address(plain), treasury, 5);
        vm.prank(treasury);
        vault.withdraw(NATIVE, recipient, 7);
        vm.assertEq(plain.balanceOf(treasury), 5, "token");
        vm.assertEq(recipient.balance, 7, "native");
    }

    function test_aWithdrawalThatFailsFails() public {
        intruder.setOnReceive(Intruder.OnReceive.Refuse);
        vm.expectRevert(abi.encodeWithSelector(IGeoVault.NativeTransferFailed.selector, address(intruder)));
        vm.prank(treasury);
        vault.withdraw(NATIVE, address(intruder), 1);
        vm.expectRevert(Token.InsufficientBalance.selector);
        vm.prank(treasury);
        vault.withdraw(address(plain), treasury, 1e30);
    }
}
