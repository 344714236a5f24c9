// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {CapExceeded} from "../../src/Cap.sol";
import {CapKind, IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {Moves} from "../base/Moves.sol";
import {vm} from "../base/Vm.sol";
import {IRoute} from "../base/World.sol";
import {Intruder} from "../mocks/Intruder.sol";
import {Reenterer} from "../mocks/Reenterer.sol";
import {Token} from "../mocks/Token.sol";

contract GeoVaultMovesTest is Moves {
    uint96 private constant AMOUNT = 1000e6;

    function test_inventoryIsSentToAListedAddress() public {
        vm.expectEmit(address(vault));
        emit IGeoVault.Sent("token", address(other), relayer, AMOUNT);
        _send("token", address(other), relayer, AMOUNT);
        vm.expectEmit(address(vault));
        emit IGeoVault.Sent("native", NATIVE, relayer, 1 ether);
        _send("native", NATIVE, relayer, 1 ether);
        vm.assertEq(other.balanceOf(relayer), AMOUNT, "token");
        vm.assertEq(relayer.balance, 1 ether, "native");
        vm.assertTrue(vault.isMoved("token") && vault.isMoved("native"), "noted");
    }

    function test_inventoryIsHandedToAListedRoute() public {
        uint256 before = plain.balanceOf(address(vault));
        vm.expectEmit(address(vault));
        emit IGeoVault.Bridged("bridge", address(plain), address(route), AMOUNT, FINAL);
        _bridge("bridge", address(plain), address(route), AMOUNT, FINAL);
        vm.assertEq(before - plain.balanceOf(address(vault)), AMOUNT, "left");
        vm.assertEq(plain.balanceOf(address(messenger)), AMOUNT, "burned");
        vm.assertEq(plain.balanceOf(address(route)), 0, "left in the route");
        vm.assertTrue(vault.isMoved("bridge"), "noted");
    }

    function test_theNativeTokenIsHandedToARouteThatTakesIt() public {
        _cap(CapKind.Bridge, NATIVE, address(intruder), AMOUNT);
        vm.expectCall(address(intruder), abi.encodeCall(Intruder.forward, (NATIVE, AMOUNT, FINAL)));
        _bridge("bridge", NATIVE, address(intruder), AMOUNT, FINAL);
        vm.assertEq(address(intruder).balance, AMOUNT, "handed");
    }

    function test_nothingIsSentToAnAddressThatIsNotListed() public {
        uint256[2] memory amounts = [uint256(1), AMOUNT];
        for (uint256 i = 0; i < amounts.length; ++i) {
            bytes memory reason = abi.encodeWithSelector(CapExceeded.selector, amounts[i], 0);
            vm.expectRevert(reason);
            _send("send", address(other), stranger, amounts[i]);
            vm.expectRevert(reason);
            _send("send", NATIVE, stranger, amounts[i]);
            // Listed for other tokens only.
            vm.expectRevert(reason);
            _send("send", address(fee), relayer, amounts[i]);
            // Listed as a route only.
            vm.expectRevert(reason);
            _send("send", address(plain), address(route), amounts[i]);
        }
    }

    function test_nothingIsHandedToARouteThatIsNotListed() public {
        bytes memory reason = abi.encodeWithSelector(CapExceeded.selector, 1, 0);
        vm.expectRevert(reason);
        _bridge("bridge", address(plain), address(intruder), 1, "");
        vm.expectRevert(reason);
        _bridge("bridge", address(other), address(route), 1, FINAL);
        // Listed for sends only.
        vm.expectRevert(reason);
        _bridge("bridge", address(plain), relayer, 1, "");
        vm.assertEq(intruder.attempts(), 0, "called");
    }

    function test_anAddressOnTheListOnceIsOffItWithACapOfZero() public {
        _cap(CapKind.Send, address(other), relayer, 0);
        _cap(CapKind.Bridge, address(plain), address(route), 0);
        bytes memory reason = abi.encodeWithSelector(CapExceeded.selector, 1, 0);
        vm.expectRevert(reason);
        _send("send", address(other), relayer, 1);
        vm.expectRevert(reason);
        _bridge("bridge", address(plain), address(route), 1, FINAL);
    }

    function test_aMoveOfNothingIsRefusedToAnyAddress() public {
        address[3] memory to = [relayer, stranger, address(intruder)];
        for (uint256 i = 0; i < to.length; ++i) {
            vm.expectRevert(IGeoVault.ZeroAmount.selector);
            _send("send", address(other), to[i], 0);
            vm.expectRevert(IGeoVault.ZeroAmount.selector);
            _bridge("bridge", address(plain), to[i], 0, "");
        }
        vm.expectRevert(IGeoVault.ZeroAmount.selector);
        _bridge("bridge", address(plain), address(route), 0, FINAL);
        vm.assertEq(intruder.attempts(), 0, "called");
        vm.assertTrue(!vault.isMoved("send") && !vault.isMoved("bridge"), "noted");
    }

    function test_aMoveIsWithinItsCap() public {
        _cap(CapKind.Send, address(other), relayer, AMOUNT);
        _cap(CapKind.Bridge, address(plain), address(route), AMOUNT);
        bytes memory reason = abi.encodeWithSelector(CapExceeded.selector, AMOUNT + 1, AMOUNT);
        vm.expectRevert(reason);
        _send("send", address(other), relayer, AMOUNT + 1);
        vm.expectRevert(reason);
        _bridge("bridge", address(plain), address(route), AMOUNT + 1, FINAL);
        _send("send", address(other), relayer, AMOUNT);
        _bridge("bridge", address(plain), address(route), AMOUNT, FINAL);
        reason = abi.encodeWithSelector(CapExceeded.selector, 1, 0);
        vm.expectRevert(reason);
        _send("second send", address(other), relayer, 1);
        vm.expectRevert(reason);
        _bridge("second bridge", address(plain), address(route), 1, FINAL);
    }

    function test_aMoveIsMadeOnceWhateverItsKind() public {
        bytes32[3] memory ids = [bytes32("trade"), "send", "bridge"];
        for (uint256 made = 0; made < ids.length; ++made) {
            _move(made, ids[made]);
            for (uint256 kind = 0; kind < ids.length; ++kind) {
                vm.expectRevert(abi.encodeWithSelector(IGeoVault.AlreadyMoved.selector, ids[made]));
                _move(kind, ids[made]);
            }
        }
    }

    function test_aMoveThatFailedMayBeMadeAfterAll() public {
        // Each fails for a different reason, after the id was noted in the same call.
        blocking.setBlocked(relayer, true);
        _cap(CapKind.Send, address(blocking), relayer, AMOUNT);
        vm.expectRevert();
        _send("send", address(blocking), relayer, AMOUNT);
        vm.expectRevert(abi.encodeWithSelector(IRoute.FeeTooHigh.selector, AMOUNT, AMOUNT * ROUTE_FEE_BPS / 10_000));
        _bridge("bridge", address(plain), address(route), AMOUNT, abi.encode(AMOUNT, 2000));
        router.set(1, 10_000, 0, 0);
        vm.expectRevert();
        _trade("trade", address(other), address(plain), AMOUNT, 0);
        vm.assertTrue(!vault.isMoved("send") && !vault.isMoved("bridge") && !vault.isMoved("trade"), "noted");
        vm.assertEq(_available(CapKind.Send, address(blocking), relayer), AMOUNT, "the cap was used");

        blocking.setBlocked(relayer, false);
        router.set(10_000, 10_000, 0, 0);
        _send("send", address(blocking), relayer, AMOUNT);
        _bridge("bridge", address(plain), address(route), AMOUNT, FINAL);
        _trade("trade", address(other), address(plain), AMOUNT, 0);
    }

    function test_aPausedVaultMakesNoMove() public {
        vm.prank(guardian);
        vault.pause();
        for (uint256 kind = 0; kind < 3; ++kind) {
            vm.expectRevert(Pausable.EnforcedPause.selector);
            _move(kind, "move");
        }
        vm.prank(resume);
        vault.unpause();
        _move(1, "move");
    }

    function test_moreThanTheVaultHasIsNotMoved() public {
        vm.expectRevert(Token.InsufficientBalance.selector);
        _send("send", address(other), coldSafe, 1e24 + 1);
        vm.expectRevert(abi.encodeWithSelector(IGeoVault.NativeTransferFailed.selector, coldSafe));
        _send("send", NATIVE, coldSafe, 1e24 + 1);
        _send("send", address(other), coldSafe, 1e24);
        _send("native", NATIVE, coldSafe, 1e24);
    }

    function test_aRecipientThatRefusesFailsTheMoveAndNoMore() public {
        _cap(CapKind.Send, NATIVE, address(intruder), AMOUNT);
        _cap(CapKind.Bridge, NATIVE, address(intruder), AMOUNT);
        for (uint8 mode = 1; mode < 4; ++mode) {
            intruder.setOnReceive(Intruder.OnReceive(mode));
            bytes memory reason = abi.encodeWithSelector(IGeoVault.NativeTransferFailed.selector, address(intruder));
            vm.expectRevert(reason);
            _send("move", NATIVE, address(intruder), AMOUNT);
            vm.expectRevert(reason);
            _bridge("move", NATIVE, address(intruder), AMOUNT, "");
        }
        vm.assertEq(_available(CapKind.Send, NATIVE, address(intruder)), AMOUNT, "the cap was used");
    }

    function test_aSendIsNotStarved() public {
        vm.expectRevert(IGeoVault.InsufficientGas.selector);
        vm.prank(treasurer);
        vault.send{gas: 130_000}("send", NATIVE, relayer, 1);
    }

    function test_aRouteWithoutCodeIsHandedNothing() public {
        _cap(CapKind.Bridge, address(plain), stranger, AMOUNT);
        vm.expectRevert();
        _bridge("bridge", address(plain), stranger, AMOUNT, "");
        vm.assertEq(plain.balanceOf(stranger), 0, "handed");
    }

    function test_aTokenThatCallsBackDuringAMoveGainsNothing() public {
        hook.setHook(intruder);
        _cap(CapKind.Send, address(hook), relayer, AMOUNT);
        _cap(CapKind.Bridge, address(hook), address(intruder), AMOUNT);
        manager.grantRole(TREASURER_ROLE, address(intruder), 0);
        for (uint256 kind = 0; kind < 3; ++kind) {
            _arm(kind);
            _send(_nextMove(), address(hook), relayer, 1);
            _wasKeptOut();
            _arm(kind);
            _bridge(_nextMove(), address(hook), address(intruder), 1, "");
            _wasKeptOut();
        }
        vm.assertEq(intruder.attempts(), 6, "tried");
    }

    function test_aRouteThatCallsBackGainsNothing() public {
        _cap(CapKind.Bridge, address(plain), address(intruder), AMOUNT);
        manager.grantRole(TREASURER_ROLE, address(intruder), 0);
        for (uint256 kind = 0; kind < 3; ++kind) {
            _arm(kind);
            _bridge(_nextMove(), address(plain), address(intruder), 1, "");
            _wasKeptOut();
        }
        vm.assertEq(intruder.attempts(), 3, "tried");
    }

    function test_aRecipientThatCallsBackGainsNothing() public {
        Reenterer reenterer = new Reenterer();
        _cap(CapKind.Send, NATIVE, address(reenterer), AMOUNT);
        manager.grantRole(TREASURER_ROLE, address(reenterer), 0);
        bytes memory inner = abi.encodeCall(IGeoVault.send, ("inner", NATIVE, address(reenterer), 1));
        reenterer.arm(address(vault), inner, ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        vm.expectCall(address(vault), inner);
        _send("outer", NATIVE, address(reenterer), 1);
        vm.assertEq(address(reenterer).balance, 1, "paid twice");
        vm.assertTrue(!vault.isMoved("inner"), "moved");
    }

    function test_aCapOnFillsOrTradesHasNoAddress() public {
        CapKind[2] memory kinds = [CapKind.Fill, CapKind.Trade];
        for (uint256 i = 0; i < kinds.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IGeoVault.WrongPair.selector, address(other), relayer));
            _cap(kinds[i], address(other), relayer, 1);
        }
    }

    function test_aCapIsReadAsItWasSet() public {
        CapKind[4] memory kinds = [CapKind.Fill, CapKind.Trade, CapKind.Send, CapKind.Bridge];
        for (uint96 i = 0; i < kinds.length; ++i) {
            address to = i < 2 ? NATIVE : stranger;
            vm.expectEmit(address(vault));
            emit IGeoVault.CapSet(kinds[i], address(fee), to, 100 + i);
            _cap(kinds[i], address(fee), to, 100 + i);
        }
        for (uint96 i = 0; i < kinds.length; ++i) {
            (uint256 perHour, uint256 available) = vault.capOf(kinds[i], address(fee), i < 2 ? NATIVE : stranger);
            vm.assertEq(perHour, 100 + i, "cap");
            vm.assertEq(available, 100 + i, "available");
        }
    }

    function test_noKindOfMoveTakesFromTheCapOfAnother() public {
        address[3] memory places = [NATIVE, relayer, address(route)];
        CapKind[3] memory kinds = [CapKind.Trade, CapKind.Send, CapKind.Bridge];
        _cap(CapKind.Fill, address(plain), NATIVE, MOVE_CAP);
        for (uint256 made = 0; made < kinds.length; ++made) {
            _move(made, _nextMove());
            for (uint256 kind = 0; kind < kinds.length; ++kind) {
                address token = kind == 2 ? address(plain) : address(other);
                uint256 used = kind <= made ? AMOUNT : 0;
                vm.assertEq(_available(kinds[kind], token, places[kind]), MOVE_CAP - used, "available");
            }
        }
        vm.assertEq(_available(address(plain)), MOVE_CAP, "available to fills");
        vm.assertEq(_available(address(other)), 1e24, "available to fills");
    }

    /// @dev A move that is allowed, which is a trade, a send or a bridge.
    function _move(uint256 kind, bytes32 moveId) private {
        if (kind == 0) _trade(moveId, address(other), address(plain), AMOUNT, 0);
        else if (kind == 1) _send(moveId, address(other), relayer, AMOUNT);
        else _bridge(moveId, address(plain), address(route), AMOUNT, FINAL);
    }

    function _arm(uint256 kind) private {
        Intruder.Call[] memory calls = new Intruder.Call[](1);
        bytes memory inner = kind == 0
            ? abi.encodeCall(IGeoVault.trade, ("inner", address(other), address(plain), AMOUNT, 0, POOL_FEE, 0, NOW))
            : kind == 1
                ? abi.encodeCall(IGeoVault.send, ("inner", address(other), relayer, AMOUNT))
                : abi.encodeCall(IGeoVault.bridge, ("inner", address(plain), address(route), AMOUNT, FINAL));
        calls[0] = Intruder.Call(address(vault), 0, inner);
        intruder.arm(calls);
    }

    function _wasKeptOut() private view {
        vm.assertEq(intruder.successes(), 0, "a call got in");
        vm.assertEq(
            bytes32(bytes4(intruder.lastError())),
            bytes32(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector),
            "for another reason"
        );
        vm.assertTrue(!vault.isMoved("inner"), "moved");
    }
}
