// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManager} from "@openzeppelin/contracts/access/manager/AccessManager.sol";
import {Order} from "../../src/Order.sol";
import {Attestation, EscrowState, IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {CapKind, Fill, VaultState} from "../../src/interfaces/IGeoVault.sol";
import {BlockingToken, FeeToken, HookToken, NoReturnToken} from "../mocks/HostileTokens.sol";
import {Intruder} from "../mocks/Intruder.sol";
import {Router, WrappedNative} from "../mocks/Router.sol";
import {Token} from "../mocks/Token.sol";
import {Attesters} from "./Attesters.sol";
import {packDeadlines, termsOf, unword, word} from "./orders.sol";
import {vm} from "./Vm.sol";
import {IVault, World} from "./World.sol";

/// @dev One chain with everything on it, and an order of a wallet that has what it takes.
abstract contract Scene is World, Attesters {
    uint256 internal constant HERE = 1;
    uint256 internal constant THERE = 10;
    uint256 internal constant NOW = 1_800_000_000;
    uint256 internal constant OPEN_DEADLINE = NOW + 300;
    uint256 internal constant FILL_DEADLINE = NOW + 1000;
    uint256 internal constant REFUND_AFTER = NOW + 90_000;

    AccessManager internal manager;
    IGeoEscrow internal escrow;
    IVault internal vault;
    Router internal router;
    WrappedNative internal wrapped;
    Token internal plain;
    Token internal other;
    FeeToken internal fee;
    NoReturnToken internal noReturn;
    BlockingToken internal blocking;
    HookToken internal hook;
    Intruder internal intruder;

    address internal wallet = _actor("wallet");
    address internal recipient = _actor("recipient");

    function setUp() public virtual {
        vm.chainId(HERE);
        vm.warp(NOW);
        _createAttesters(3);
        (plain, other, fee, noReturn) = (new Token(), new Token(), new FeeToken(), new NoReturnToken());
        (blocking, hook, intruder) = (new BlockingToken(), new HookToken(), new Intruder());
        (router, wrapped) = (new Router(), new WrappedNative());
        manager = _deployManager();
        escrow = _deployEscrow();
        vault = _deployVault(manager, escrow, address(router), address(plain), address(wrapped));
        _wireRoles(manager, vault);
        address[6] memory list =
            [address(plain), address(other), address(fee), address(noReturn), address(blocking), address(hook)];
        for (uint256 i = 0; i < list.length; ++i) {
            Token(list[i]).mint(wallet, 1e24);
            Token(list[i]).mint(address(vault), 1e24);
            Token(list[i]).mint(address(router.POOLS()), 1e24);
            _cap(list[i], 1e24);
        }
        _cap(NATIVE, 1e24);
        vm.deal(wallet, 1e24);
        vm.deal(address(vault), 1e24);
        vm.deal(address(this), 1e24);
        wrapped.deposit{value: 1e24}();
        wrapped.transfer(address(router.POOLS()), 1e24);
    }

    function _cap(address token, uint96 perHour) internal {
        _cap(CapKind.Fill, token, NATIVE, perHour);
    }

    function _cap(CapKind kind, address token, address to, uint96 perHour) internal {
        vm.prank(config);
        vault.setCap(kind, token, to, perHour);
    }

    /// @dev What may leave of a token by fills right now.
    function _available(address token) internal view returns (uint256 available) {
        (, available) = vault.capOf(CapKind.Fill, token, NATIVE);
    }

    /// @dev An order of a plain token here, for a plain token there.
    function _order() internal view returns (Order memory) {
        return Order({
            wallet: word(wallet),
            inputToken: word(address(plain)),
            inputAmount: 1000e6,
            originChainId: HERE,
            destinationChainId: THERE,
            outputToken: word(address(other)),
            minOutput: 990e6,
            recipient: word(recipient),
            topUp: 0,
            escrow: word(address(escrow)),
            originVault: word(address(vault)),
            destinationVault: word(address(0xDE57)),
            attesterSet: _set(),
            swapKey: bytes32(uint256(7)),
            deadlines: packDeadlines(OPEN_DEADLINE, FILL_DEADLINE, REFUND_AFTER)
        });
    }

    /// @dev An order that is opened and delivered here.
    function _orderHere() internal view returns (Order memory order) {
        order = _order();
        order.destinationChainId = HERE;
        order.destinationVault = word(address(vault));
    }

    /// @dev An order that was opened elsewhere and is delivered here.
    function _orderFromThere() internal view returns (Order memory order) {
        order = _orderHere();
        order.originChainId = THERE;
        order.escrow = keccak256("an escrow elsewhere");
        order.originVault = keccak256("a vault elsewhere");
        order.wallet = keccak256("a wallet elsewhere");
        order.inputToken = keccak256("a token elsewhere");
    }

    function _approve(Order memory order) internal {
        if (order.inputToken == 0) return;
        // Not every token answers.
        vm.prank(unword(order.wallet));
        (bool ok,) = unword(order.inputToken).call(abi.encodeCall(Token.approve, (address(escrow), order.inputAmount)));
        vm.assertTrue(ok, "approve");
    }

    function _open(Order memory order) internal returns (bytes32) {
        _approve(order);
        vm.prank(unword(order.wallet));
        return escrow.open{value: order.inputToken == 0 ? order.inputAmount : 0}(termsOf(order));
    }

    /// @dev Expects `open` to fail once the wallet has approved.
    function _openReverts(Order memory order, bytes memory reason) internal {
        _approve(order);
        vm.expectRevert(reason);
        vm.prank(unword(order.wallet));
        escrow.open{value: order.inputToken == 0 ? order.inputAmount : 0}(termsOf(order));
    }

    function _releaseAttestation(Order memory order) internal view returns (Attestation memory) {
        return _attest(escrow.releaseDigest(_ids(order)));
    }

    function _refundAttestation(Order memory order) internal view returns (Attestation memory) {
        return _attest(escrow.refundDigest(_ids(order)));
    }

    function _inventoryFill(Order memory order) internal pure returns (Fill memory) {
        return Fill({order: order, amount: order.minOutput, minOutput: 0, poolFee: 0, secondPoolFee: 0});
    }

    function _fill(Fill memory item) internal {
        vm.prank(operator);
        vault.fill(item);
    }

    function _fillReverts(Fill memory item, bytes memory reason) internal {
        vm.expectRevert(reason);
        vm.prank(operator);
        vault.fill(item);
    }

    function _isState(Order memory order, EscrowState state) internal view {
        vm.assertEq(uint256(escrow.orderState(order.orderId())), uint256(state), "escrow state");
    }

    function _isState(Order memory order, VaultState state) internal view {
        vm.assertEq(uint256(vault.orderState(order.orderId())), uint256(state), "vault state");
    }

    function _list(Order memory one, Order memory two) internal pure returns (Order[] memory list) {
        list = new Order[](2);
        (list[0], list[1]) = (one, two);
    }
}
