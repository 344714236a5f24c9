// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {Order} from "../../src/Order.sol";
import {CapKind, Fill, IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {Moves} from "../base/Moves.sol";
import {word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {IVault} from "../base/World.sol";

/// @dev The roles with the delays that they have on a chain with real money.
contract GeoVaultRolesTest is Moves {
    uint64 private constant ADMIN_ROLE = 0;
    uint32 private constant TREASURY_DELAY = 1 days;
    uint32 private constant CONFIG_DELAY = 2 days;
    uint32 private constant ADMIN_DELAY = 2 days;

    address private secondAdmin = _actor("second admin");
    address private thief = _actor("thief");

    function setUp() public override {
        super.setUp();
        manager.grantRole(TREASURY_ROLE, treasury, TREASURY_DELAY);
        manager.grantRole(CONFIG_ROLE, config, CONFIG_DELAY);
        manager.setRoleGuardian(TREASURY_ROLE, GUARDIAN_ROLE);
        manager.setRoleGuardian(CONFIG_ROLE, GUARDIAN_ROLE);
        manager.grantRole(ADMIN_ROLE, admin, ADMIN_DELAY);
        manager.grantRole(ADMIN_ROLE, secondAdmin, ADMIN_DELAY);
        manager.renounceRole(ADMIN_ROLE, address(this));
    }

    function test_eachRoleHasItsDelay() public view {
        _isMember(OPERATOR_ROLE, operator, 0);
        _isMember(GUARDIAN_ROLE, guardian, 0);
        _isMember(TREASURY_ROLE, treasury, TREASURY_DELAY);
        _isMember(TREASURER_ROLE, treasurer, 0);
        _isMember(CONFIG_ROLE, config, CONFIG_DELAY);
        _isMember(RESUME_ROLE, resume, 0);
        _isMember(ADMIN_ROLE, admin, ADMIN_DELAY);
        _isMember(ADMIN_ROLE, secondAdmin, ADMIN_DELAY);
        (bool isMember,) = manager.hasRole(ADMIN_ROLE, address(this));
        vm.assertTrue(!isMember, "the deployer is still an admin");
    }

    /// @dev Calls every function of the compiled contract as a third party, with arguments of zero, in a call that may
    /// not change anything. A function that only reads returns. One that would change something must refuse the third
    /// party, and have a role that another account than the admin holds.
    function test_everyFunctionThatChangesSomethingHasARoleAndNoneIsLeftToTheAdmin() public {
        string[] memory name = vm.split(_vaultArtifact(), ":");
        string memory path = string.concat(vm.envOr("FOUNDRY_OUT", "out"), "/", name[0], "/", name[1], ".json");
        string[] memory signatures = vm.parseJsonKeys(vm.readFile(path), ".methodIdentifiers");
        uint256 restricted = 0;
        for (uint256 i = 0; i < signatures.length; ++i) {
            bytes4 selector = bytes4(keccak256(bytes(signatures[i])));
            uint64 role = manager.getTargetFunctionRole(address(vault), selector);
            vm.assertEq(role, _roleOf(selector), signatures[i]);
            vm.prank(stranger);
            (bool ok, bytes memory answer) = address(vault).staticcall(bytes.concat(selector, new bytes(1024)));
            bytes4 reason = ok ? bytes4(0) : bytes4(answer);
            if (selector == IVault.fillOne.selector) {
                vm.assertTrue(reason == IGeoVault.OnlySelf.selector, signatures[i]);
            } else if (role != ADMIN_ROLE || selector == IAccessManaged.setAuthority.selector) {
                // The authority is set by the manager alone, which no role stands in for.
                vm.assertTrue(reason == IAccessManaged.AccessManagedUnauthorized.selector, signatures[i]);
                ++restricted;
            } else {
                vm.assertTrue(ok || selector == IGeoVault.tradeFloor.selector, signatures[i]);
            }
        }
        vm.assertEq(restricted, 14, "functions with a role, and the one of the manager");
    }

    function test_operatorGuardianResumeAndTreasurerActAtOnce() public {
        Order memory order = _orderFromThere();
        _fill(_inventoryFill(order));
        order.swapKey = "void";
        vm.prank(operator);
        vault.void(order);
        vm.prank(operator);
        vault.fillMany(new Fill[](0));
        vm.prank(operator);
        vault.voidMany(new Order[](0));
        _trade(address(other), address(plain), 1000e6);
        _send("send", address(other), relayer, 1);
        _bridge("bridge", address(plain), address(route), 1, FINAL);
        vm.prank(guardian);
        vault.pause();
        vm.prank(resume);
        vault.unpause();
    }

    function test_whatTreasuryAndConfigDoIsScheduledForTheirWholeDelay() public {
        uint256 credit = _creditTheVault();
        bytes[4] memory calls = _delayedCalls();
        for (uint256 i = 0; i < calls.length; ++i) {
            (address caller, uint32 delay) = i < 2 ? (treasury, TREASURY_DELAY) : (config, CONFIG_DELAY);
            bytes32 id = manager.hashOperation(caller, address(vault), calls[i]);
            uint256 start = vm.getBlockTimestamp();
            _callReverts(
                caller, calls[i], abi.encodeWithSelector(IAccessManager.AccessManagerNotScheduled.selector, id)
            );
            vm.expectRevert(
                abi.encodeWithSelector(
                    IAccessManager.AccessManagerUnauthorizedCall.selector, caller, address(vault), bytes4(calls[i])
                )
            );
            _schedule(caller, address(vault), calls[i], uint48(start + delay - 1));

            vm.expectEmit(address(manager));
            emit IAccessManager.OperationScheduled(id, 1, uint48(start + delay), caller, address(vault), calls[i]);
            _schedule(caller, address(vault), calls[i], 0);
            vm.warp(start + delay - 1);
            _callReverts(caller, calls[i], abi.encodeWithSelector(IAccessManager.AccessManagerNotReady.selector, id));
            vm.warp(start + delay);
            _call(caller, calls[i]);
            // Once for each time that it is scheduled.
            _callReverts(
                caller, calls[i], abi.encodeWithSelector(IAccessManager.AccessManagerNotScheduled.selector, id)
            );
        }
        vm.assertEq(plain.balanceOf(stranger), 1, "withdrawn");
        vm.assertEq(blocking.balanceOf(stranger), credit, "claimed");
        (uint256 perHour,) = vault.capOf(CapKind.Send, address(plain), stranger);
        vm.assertEq(perHour, 1, "cap");
        vm.assertEq(vault.feedOf(address(other)).feed, NATIVE, "feed");
    }

    function test_whatIsScheduledIsNoLongerDoneAfterAWeek() public {
        bytes memory data = _delayedCalls()[0];
        _schedule(treasury, address(vault), data, 0);
        vm.warp(NOW + TREASURY_DELAY + 1 weeks);
        _callReverts(
            treasury,
            data,
            abi.encodeWithSelector(
                IAccessManager.AccessManagerExpired.selector, manager.hashOperation(treasury, address(vault), data)
            )
        );
    }

    function test_theGuardianCancelsWhatTreasuryAndConfigScheduled() public {
        bytes[4] memory calls = _delayedCalls();
        for (uint256 i = 0; i < calls.length; ++i) {
            address caller = i < 2 ? treasury : config;
            _schedule(caller, address(vault), calls[i], 0);
            address[6] memory others = [operator, treasurer, resume, stranger, thief, i < 2 ? config : treasury];
            for (uint256 k = 0; k < others.length; ++k) {
                _cancelReverts(others[k], caller, address(vault), calls[i]);
            }
            bytes32 id = manager.hashOperation(caller, address(vault), calls[i]);
            vm.expectEmit(address(manager));
            emit IAccessManager.OperationCanceled(id, 1);
            _cancel(guardian, caller, address(vault), calls[i]);
            vm.warp(vm.getBlockTimestamp() + CONFIG_DELAY);
            _callReverts(
                caller, calls[i], abi.encodeWithSelector(IAccessManager.AccessManagerNotScheduled.selector, id)
            );
        }
        vm.assertEq(plain.balanceOf(stranger), 0, "withdrawn");
    }

    function test_whatAnAdminDoesIsScheduledForItsWholeDelay() public {
        bytes[6] memory calls = _adminCalls();
        for (uint256 i = 0; i < calls.length; ++i) {
            bytes32 id = manager.hashOperation(admin, address(manager), calls[i]);
            uint256 start = vm.getBlockTimestamp();
            _managerReverts(
                admin, calls[i], abi.encodeWithSelector(IAccessManager.AccessManagerNotScheduled.selector, id)
            );
            _schedule(admin, address(manager), calls[i], 0);
            vm.warp(start + ADMIN_DELAY - 1);
            _managerReverts(admin, calls[i], abi.encodeWithSelector(IAccessManager.AccessManagerNotReady.selector, id));
            vm.warp(start + ADMIN_DELAY);
            vm.prank(admin);
            (bool ok,) = address(manager).call(calls[i]);
            vm.assertTrue(ok, "not done");
        }
    }

    function test_eachAdminCancelsWhatTheOtherScheduled() public {
        bytes[6] memory calls = _adminCalls();
        for (uint256 i = 0; i < calls.length; ++i) {
            (address one, address two) = i % 2 == 0 ? (admin, secondAdmin) : (secondAdmin, admin);
            _schedule(one, address(manager), calls[i], 0);
            // The guardian's role is not the guardian of the admins'.
            address[6] memory others = [guardian, operator, treasurer, treasury, config, resume];
            for (uint256 k = 0; k < others.length; ++k) {
                _cancelReverts(others[k], one, address(manager), calls[i]);
            }
            _cancel(two, one, address(manager), calls[i]);
            vm.warp(vm.getBlockTimestamp() + ADMIN_DELAY);
            _managerReverts(
                one,
                calls[i],
                abi.encodeWithSelector(
                    IAccessManager.AccessManagerNotScheduled.selector,
                    manager.hashOperation(one, address(manager), calls[i])
                )
            );
        }
    }

    function test_theGuardianOfTheAdminsCannotBeChanged() public {
        vm.assertEq(manager.getRoleGuardian(ADMIN_ROLE), ADMIN_ROLE, "guardian");
        bytes memory data = abi.encodeCall(IAccessManager.setRoleGuardian, (ADMIN_ROLE, GUARDIAN_ROLE));
        _schedule(admin, address(manager), data, 0);
        vm.warp(NOW + ADMIN_DELAY);
        _managerReverts(
            admin, data, abi.encodeWithSelector(IAccessManager.AccessManagerLockedRole.selector, ADMIN_ROLE)
        );
    }

    function test_onlyAnAdminChangesRoles() public {
        bytes[6] memory calls = _adminCalls();
        address[8] memory others = [operator, guardian, treasury, treasurer, config, resume, stranger, address(this)];
        for (uint256 i = 0; i < calls.length; ++i) {
            for (uint256 k = 0; k < others.length; ++k) {
                _managerReverts(
                    others[k],
                    calls[i],
                    abi.encodeWithSelector(
                        IAccessManager.AccessManagerUnauthorizedAccount.selector, others[k], ADMIN_ROLE
                    )
                );
            }
        }
    }

    function test_aStolenTreasuryKeyGetsNothingIfTheGuardianCancelsWithinADay() public {
        bytes memory data = abi.encodeCall(IGeoVault.withdraw, (address(plain), thief, 1e24));
        _schedule(treasury, address(vault), data, 0);
        vm.warp(NOW + TREASURY_DELAY - 1);
        _cancel(guardian, treasury, address(vault), data);
        vm.warp(NOW + 30 days);
        _callReverts(
            treasury,
            data,
            abi.encodeWithSelector(
                IAccessManager.AccessManagerNotScheduled.selector, manager.hashOperation(treasury, address(vault), data)
            )
        );
        vm.assertEq(plain.balanceOf(thief), 0, "withdrawn");
    }

    function test_nobodyCancelsASendToTheColdSafe() public {
        bytes memory data = abi.encodeCall(IGeoVault.send, ("rescue", address(plain), coldSafe, 1e24));
        // It cannot even be scheduled, so there is nothing to cancel.
        vm.expectRevert(
            abi.encodeWithSelector(
                IAccessManager.AccessManagerUnauthorizedCall.selector,
                treasurer,
                address(vault),
                IGeoVault.send.selector
            )
        );
        _schedule(treasurer, address(vault), data, 0);
        bytes32 id = manager.hashOperation(treasurer, address(vault), data);
        address[4] memory cancellers = [guardian, admin, secondAdmin, stranger];
        for (uint256 i = 0; i < cancellers.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IAccessManager.AccessManagerNotScheduled.selector, id));
            _cancel(cancellers[i], treasurer, address(vault), data);
        }
        _call(treasurer, data);
        _send("native rescue", NATIVE, coldSafe, 1e24);
        vm.assertEq(plain.balanceOf(coldSafe), 1e24, "token");
        vm.assertEq(coldSafe.balance, 1e24, "native");
    }

    function test_aStolenAdminKeyCancelsAWithdrawalButNotASendToTheColdSafe() public {
        bytes memory data = abi.encodeCall(IGeoVault.withdraw, (address(plain), coldSafe, 1e24));
        _schedule(treasury, address(vault), data, 0);
        _cancel(admin, treasury, address(vault), data);
        // What would stop a send takes the admin's delay, and the other admin cancels it.
        bytes memory closing = abi.encodeCall(IAccessManager.setTargetClosed, (address(vault), true));
        _schedule(admin, address(manager), closing, 0);
        _cancel(secondAdmin, admin, address(manager), closing);
        _send("rescue", address(plain), coldSafe, 1e24);
        vm.assertEq(plain.balanceOf(coldSafe), 1e24, "token");
    }

    function test_aStolenGuardianKeyStopsTheVaultUntilAnAdminRemovesIt() public {
        vm.prank(guardian);
        vault.pause();
        vm.expectRevert(Pausable.EnforcedPause.selector);
        _send("send", address(plain), coldSafe, 1);
        Order memory order = _orderFromThere();
        vm.prank(operator);
        vault.void(order);

        bytes memory data = abi.encodeCall(IAccessManager.revokeRole, (GUARDIAN_ROLE, guardian));
        _schedule(admin, address(manager), data, 0);
        _cancelReverts(guardian, admin, address(manager), data);
        vm.warp(NOW + ADMIN_DELAY);
        vm.prank(admin);
        manager.revokeRole(GUARDIAN_ROLE, guardian);
        vm.prank(resume);
        vault.unpause();
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, guardian));
        vm.prank(guardian);
        vault.pause();
        _send("send", address(plain), coldSafe, 1);
    }

    function _roleOf(bytes4 selector) private pure returns (uint64) {
        if (selector == IGeoVault.fill.selector || selector == IGeoVault.fillMany.selector) return OPERATOR_ROLE;
        if (selector == IGeoVault.void.selector || selector == IGeoVault.voidMany.selector) return OPERATOR_ROLE;
        if (selector == IGeoVault.pause.selector) return GUARDIAN_ROLE;
        if (selector == IGeoVault.withdraw.selector || selector == IGeoVault.claimCredit.selector) {
            return TREASURY_ROLE;
        }
        if (
            selector == IGeoVault.trade.selector || selector == IGeoVault.send.selector
                || selector == IGeoVault.bridge.selector
        ) return TREASURER_ROLE;
        if (selector == IGeoVault.setCap.selector || selector == IGeoVault.setFeed.selector) return CONFIG_ROLE;
        if (selector == IGeoVault.unpause.selector) return RESUME_ROLE;
        return ADMIN_ROLE;
    }

    /// @dev Leaves the vault a credit in the escrow, of a release that it could not be paid.
    function _creditTheVault() private returns (uint256) {
        Order memory order = _order();
        order.inputToken = word(address(blocking));
        _open(order);
        blocking.setBlocked(address(vault), true);
        escrow.release(order, _releaseAttestation(order));
        return order.inputAmount;
    }

    /// @dev Two of the treasury's, then two of the config's.
    function _delayedCalls() private view returns (bytes[4] memory) {
        return [
            abi.encodeCall(IGeoVault.withdraw, (address(plain), stranger, 1)),
            abi.encodeCall(IGeoVault.claimCredit, (address(blocking), stranger)),
            abi.encodeCall(IGeoVault.setCap, (CapKind.Send, address(plain), stranger, 1)),
            abi.encodeCall(IGeoVault.setFeed, (address(other), NATIVE, 0, 0))
        ];
    }

    /// @dev All by which an admin could get at the vault, or free itself of its delay or of the other admin.
    function _adminCalls() private view returns (bytes[6] memory) {
        bytes4[] memory selectors = new bytes4[](1);
        selectors[0] = IGeoVault.withdraw.selector;
        return [
            abi.encodeCall(IAccessManager.grantRole, (TREASURY_ROLE, thief, 0)),
            abi.encodeCall(IAccessManager.grantRole, (ADMIN_ROLE, thief, 0)),
            abi.encodeCall(IAccessManager.revokeRole, (GUARDIAN_ROLE, guardian)),
            abi.encodeCall(IAccessManager.setRoleGuardian, (TREASURY_ROLE, ADMIN_ROLE)),
            abi.encodeCall(IAccessManager.setTargetFunctionRole, (address(vault), selectors, OPERATOR_ROLE)),
            abi.encodeCall(IAccessManager.updateAuthority, (address(vault), address(router)))
        ];
    }

    function _schedule(address caller, address target, bytes memory data, uint48 when) private {
        vm.prank(caller);
        manager.schedule(target, data, when);
    }

    function _cancel(address canceller, address caller, address target, bytes memory data) private {
        vm.prank(canceller);
        manager.cancel(caller, target, data);
    }

    function _cancelReverts(address canceller, address caller, address target, bytes memory data) private {
        vm.expectRevert(
            abi.encodeWithSelector(
                IAccessManager.AccessManagerUnauthorizedCancel.selector, canceller, caller, target, bytes4(data)
            )
        );
        _cancel(canceller, caller, target, data);
    }

    function _call(address caller, bytes memory data) private {
        vm.prank(caller);
        (bool ok,) = address(vault).call(data);
        vm.assertTrue(ok, "not done");
    }

    function _callReverts(address caller, bytes memory data, bytes memory reason) private {
        _reverts(caller, address(vault), data, reason);
    }

    function _managerReverts(address caller, bytes memory data, bytes memory reason) private {
        _reverts(caller, address(manager), data, reason);
    }

    function _reverts(address caller, address target, bytes memory data, bytes memory reason) private {
        vm.prank(caller);
        (bool ok, bytes memory answer) = target.call(data);
        vm.assertTrue(!ok, "done");
        vm.assertEq(keccak256(answer), keccak256(reason), "for another reason");
    }

    function _isMember(uint64 role, address account, uint32 delay) private view {
        (bool isMember, uint32 executionDelay) = manager.hasRole(role, account);
        vm.assertTrue(isMember, "not a member");
        vm.assertEq(executionDelay, delay, "delay");
    }
}
