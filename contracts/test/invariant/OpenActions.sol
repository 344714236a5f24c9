// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order, Terms} from "../../src/Order.sol";
import {IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {packDeadlines, termsOf, unword, word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {CodedWallet} from "../mocks/CodedWallet.sol";
import {Intruder} from "../mocks/Intruder.sol";
import {Signers} from "./Signers.sol";

/// @dev Orders opened well, badly, twice, and by wallets that call back.
abstract contract OpenActions is Signers {
    function openAcrossChains(uint256 seed) public {
        uint256 chain = _begin(seed);
        _openNew(_newOrder(chain, 1 - chain), true);
        _end("openAcrossChains", IGeoEscrow.Opened.selector);
    }

    function openMoreAcrossChains(uint256 seed) external {
        openAcrossChains(seed);
    }

    function openOnOneChain(uint256 seed) external {
        uint256 chain = _begin(seed);
        _openNew(_newOrder(chain, chain), true);
        _end("openOnOneChain", IGeoEscrow.Opened.selector);
    }

    /// @dev Anyone may open an order that names attesters, vaults and chains that are not the campaign's.
    function openForeign(uint256 seed) external {
        uint256 chain = _begin(seed);
        Order memory order = _newOrder(chain, chain);
        uint256 kind = _rand(4);
        if (kind == 0) {
            order.attesterSet = _strangersSet();
            order.originVault = word(stranger);
        } else if (kind == 1) {
            order.destinationVault = word(address(fakeVault));
        } else if (kind == 2) {
            order.destinationChainId = SOLANA;
            order.destinationVault = keccak256("a vault on Solana");
            order.recipient = keccak256("a wallet on Solana");
        } else {
            order.destinationVault = word(stranger);
        }
        _openNew(order, false);
        _end("openForeign", IGeoEscrow.Opened.selector);
    }

    function openWrongly(uint256 seed) external {
        uint256 kind = uint256(keccak256(abi.encode(seed))) % 3;
        if (kind == 0) _openAgain(seed);
        else if (kind == 1) _openBadly(seed);
        else _openWithinOpen(seed);
    }

    /// @dev An order that was made before, in any state.
    function _openAgain(uint256 seed) private {
        if (orders.length == 0) return;
        _begin(seed);
        Order memory order = _some();
        _goTo(_chainOf(order.originChainId));
        _open(
            order,
            abi.encodeCall(IGeoEscrow.open, (termsOf(order))),
            unword(order.inputToken) == NATIVE ? order.inputAmount : 0
        );
        _book(IGeoEscrow.Opened.selector);
        ++effects["openAgain"];
    }

    /// @dev What `open` must refuse. The books would show an order that it let pass.
    function _openBadly(uint256 seed) private {
        uint256 chain = _begin(seed);
        Order memory order = _newOrder(chain, _rand(CHAINS));
        uint256 value = unword(order.inputToken) == NATIVE ? order.inputAmount : 0;
        uint256 time = vm.getBlockTimestamp();
        uint256 kind = _rand(7);
        if (kind == 0) order.deadlines = packDeadlines(time - 1, time + 10, time + 20);
        else if (kind == 1) order.deadlines = packDeadlines(time + 1, time + 10, time + 3 days + 1);
        else if (kind == 2) order.deadlines = packDeadlines(time + 10, time + 10, time + 20);
        else if (kind == 3) order.inputAmount = 0;
        else if (kind == 4) order.minOutput = 0;
        else if (kind == 5) order.inputAmount = 1 << 128;
        else value = value == 0 ? 1 : value - 1;
        _register(order, true);
        bool ok = _open(order, abi.encodeCall(IGeoEscrow.open, (termsOf(order))), kind == 3 ? 0 : value);
        _check(!ok, "I4: an order was opened on bad terms or with another amount");
        _end("openBadly");
    }

    /// @dev A transfer that brings too little, and a call out of its hook that opens a second order with the rest. The
    /// balance has grown by what the first order names, but the two orders together name more.
    function _openWithinOpen(uint256 seed) private {
        uint256 chain = _begin(seed);
        Order memory outer = _newOrder(chain, 1 - chain);
        outer.wallet = word(address(intruder));
        outer.inputToken = word(address(hook));
        outer.inputAmount = 10_000 * (1 + _rand(1e20));
        Order memory inner = _newOrder(chain, 1 - chain);
        inner.wallet = outer.wallet;
        inner.inputToken = outer.inputToken;
        inner.inputAmount = outer.inputAmount / 100;
        inner.swapKey = keccak256(abi.encode(outer.swapKey));
        _register(outer, true);
        _register(inner, true);

        address escrow = address(escrows[chain]);
        Intruder.Call[] memory calls = new Intruder.Call[](3);
        calls[0] = Intruder.Call(address(hook), 0, abi.encodeCall(hook.setFee, (0)));
        calls[1] = Intruder.Call(address(hook), 0, abi.encodeCall(hook.approve, (escrow, inner.inputAmount)));
        calls[2] = Intruder.Call(escrow, 0, abi.encodeCall(IGeoEscrow.open, (termsOf(inner))));
        intruder.arm(calls);
        hook.setFee(100);
        _open(outer, abi.encodeCall(IGeoEscrow.open, (termsOf(outer))), 0);
        hook.setFee(0);
        _disarm();
        _call(address(intruder), address(hook), abi.encodeCall(hook.approve, (escrow, 0)));
        _end("openWithinOpen");
    }

    /// @dev In the wallet's own transaction, or by anyone with the wallet's signature.
    function _openNew(Order memory order, bool ours) private {
        _register(order, ours);
        uint256 way = _rand(4);
        if (way > 1) return _openSigned(order, way == 2 ? TYPED : PERSONAL);
        Terms memory terms = termsOf(order);
        uint256 value = unword(order.inputToken) == NATIVE ? order.inputAmount : 0;
        _open(order, abi.encodeCall(IGeoEscrow.open, (terms)), value);
        if (value != 0) return;
        uint256 left = _token(unword(order.inputToken)).allowance(unword(order.wallet), unword(order.escrow));
        _check(left == 0, "I13: an allowance was left to the escrow");
    }

    function _openSigned(Order memory order, uint8 kind) private {
        if (!_isDelegated(unword(order.wallet))) {
            CodedWallet.Way way = kind == TYPED ? CodedWallet.Way.Honest : CodedWallet.Way.Generous;
            _openFor(order, abi.encodePacked(way));
            return;
        }
        if (_openFor(order, _ownersProof(order, kind))) ++effects[kind == TYPED ? "openForTyped" : "openForPersonal"];
    }

    function _disarm() internal {
        intruder.arm(new Intruder.Call[](0));
    }

    function _strangersSet() internal pure returns (bytes32) {
        return _setOf(1, _strangers());
    }

    function _strangers() internal pure returns (address[] memory list) {
        list = new address[](1);
        list[0] = vm.addr(uint256(keccak256("stranger")));
    }
}
