// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order} from "../../src/Order.sol";
import {Attestation, IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {VaultState} from "../../src/interfaces/IGeoVault.sol";
import {unword, word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {Intruder} from "../mocks/Intruder.sol";
import {WalletActions} from "./WalletActions.sol";

/// @dev Releases, refunds and claims: honest ones, forged ones, and those that need no permission.
abstract contract DecideActions is WalletActions {
    function release(uint256 seed) external {
        uint256 chain = _begin(seed);
        (bool found, Order memory order) = _find(_mayRelease, chain, CHAINS);
        if (!found) return;
        _troublePayment(order, unword(order.originVault));
        _call(stranger, address(escrows[chain]), _releaseOf(escrows[chain], order));
        _end("release", IGeoEscrow.Released.selector);
    }

    function refundEarly(uint256 seed) external {
        uint256 chain = _begin(seed);
        (bool found, Order memory order) = _find(_mayRefund, chain, CHAINS);
        if (!found) return;
        _troublePayment(order, unword(order.wallet));
        _call(stranger, address(escrows[chain]), _refundOf(escrows[chain], order));
        _end("refundEarly", IGeoEscrow.Refunded.selector);
    }

    /// @dev Lists name orders twice, orders that are decided, of other chains and escrows, or that were never opened.
    function releaseMany(uint256 seed) external {
        (IGeoEscrow escrow, Order[] memory list) = _list(seed, _mayRelease);
        Attestation memory attestation = _attest(escrow.releaseDigest(_ids(list)));
        if (_oneIn(2)) blocking.setBlocked(unword(list[0].originVault), true);
        _call(stranger, address(escrow), abi.encodeCall(IGeoEscrow.releaseMany, (list, attestation)));
        _end("releaseMany", IGeoEscrow.Released.selector);
    }

    function refundMany(uint256 seed) external {
        (IGeoEscrow escrow, Order[] memory list) = _list(seed, _mayRefund);
        Attestation memory attestation = _attest(escrow.refundDigest(_ids(list)));
        _call(stranger, address(escrow), abi.encodeCall(IGeoEscrow.refundMany, (list, attestation)));
        _end("refundMany", IGeoEscrow.Refunded.selector);
    }

    /// @dev Any order at any time, without an attestation.
    function refundByAnyone(uint256 seed) external {
        if (orders.length == 0) return;
        uint256 chain = _begin(seed);
        (bool found, Order memory order) = _find(_mayRefund, chain, chain);
        if (!found || _oneIn(3)) order = _some();
        _goTo(_chainOf(order.originChainId));
        // Another escrow's order is offered too.
        address escrow = _oneIn(4) ? address(escrows[_rand(CHAINS)]) : unword(order.escrow);
        _call(stranger, escrow, abi.encodeCall(IGeoEscrow.refund, (order)));
        _end("refundByAnyone", IGeoEscrow.Refunded.selector);
    }

    /// @dev Once `refundAfter` has come, nothing can keep an open order from being refunded.
    function refundWhenTimeHasCome(uint256 seed) external {
        _begin(seed);
        (bool found, Order memory order) = _find(_isDue, CHAINS, CHAINS);
        if (!found) return;
        if (order.deadlines.refundAfter() > vm.getBlockTimestamp()) vm.warp(order.deadlines.refundAfter());
        _goTo(_chainOf(order.originChainId));
        _troublePayment(order, unword(order.wallet));
        bool ok = _call(stranger, unword(order.escrow), abi.encodeCall(IGeoEscrow.refund, (order)));
        _check(ok, "I12: an order could not be refunded after its refundAfter");
        _end("refundWhenTimeHasCome", IGeoEscrow.Refunded.selector);
    }

    /// @dev Signatures of too few, of others, of the same twice, for another kind, list, chain or escrow.
    function forgeAttestation(uint256 seed) external {
        uint256 chain = _begin(seed);
        (bool found, Order memory order) = _find(_isOpen, chain, CHAINS);
        if (!found) return;
        bool toRelease = _oneIn(2);
        bytes memory data = _forged(escrows[chain], order, toRelease, _rand(9));
        _call(stranger, address(escrows[chain]), data);
        uint256 decided = _book(toRelease ? IGeoEscrow.Released.selector : IGeoEscrow.Refunded.selector);
        _check(decided == 0, "I5: a forged attestation decided an order");
        ++effects["forgeAttestation"];
    }

    function claim(uint256 seed) external {
        uint256 chain = _begin(seed);
        (IGeoEscrow escrow, address token, address who) = _findCredit(chain);
        // Often what made the credit is over.
        if (_oneIn(2)) {
            blocking.setBlocked(who, false);
            blocking.setBlocked(address(escrow), false);
            if (who == address(refuser) || who == address(burner)) {
                Intruder(payable(who)).setOnReceive(Intruder.OnReceive.Accept);
            }
        }
        _call(stranger, address(escrow), abi.encodeCall(IGeoEscrow.claim, (token, who)));
        _end("claim", IGeoEscrow.Claimed.selector);
    }

    function claimTo(uint256 seed) external {
        uint256 chain = _begin(seed);
        (IGeoEscrow escrow, address token, address who) = _findCredit(chain);
        claimer = who;
        _call(who, address(escrow), abi.encodeCall(IGeoEscrow.claimTo, (token, wallets[_rand(2)])));
        _end("claimTo", IGeoEscrow.Claimed.selector);
    }

    /// @dev Only the vault can name another address for its credit, and only the treasury can make it. A vault takes
    /// everything but what blocks it.
    function claimVaultsCredit(uint256 seed) external {
        uint256 chain = _begin(seed);
        if (creditOf[address(escrows[chain])][address(blocking)][address(vaults[chain])] == 0) chain = 1 - chain;
        _goTo(chain);
        if (_oneIn(2)) blocking.setBlocked(address(escrows[chain]), false);
        claimer = address(vaults[chain]);
        _call(
            treasury, address(vaults[chain]), abi.encodeCall(vaults[chain].claimCredit, (address(blocking), treasury))
        );
        _end("claimVaultsCredit", IGeoEscrow.Claimed.selector);
    }

    /// @dev A third party's vault returns any state for the orders that name it, and for those that do not.
    function foreignVaultActs(uint256 seed) external {
        if (orders.length == 0) return;
        _begin(seed);
        fakeVault.setState(VaultState(_rand(3)));
        Order memory order = _some();
        for (uint256 i = 0; i < 8 && order.destinationVault != word(address(fakeVault)); ++i) {
            order = _some();
        }
        _goTo(_chainOf(order.originChainId));
        IGeoEscrow escrow = IGeoEscrow(unword(order.escrow));
        bool ok = _call(stranger, address(fakeVault), abi.encodeCall(fakeVault.releaseFilled, (escrow, order)));
        if (!ok) _call(stranger, address(escrow), abi.encodeCall(IGeoEscrow.refund, (order)));
        uint256 decided = _book(IGeoEscrow.Released.selector);
        if (decided != 0) ++effects["foreignVaultActs"];
    }

    /// @dev What can keep a payment from arriving, at the moment when it is made.
    function _troublePayment(Order memory order, address payee) private {
        address token = unword(order.inputToken);
        if (_oneIn(2)) return;
        if (token == address(blocking)) blocking.setBlocked(payee, true);
        if (token == NATIVE && payee == address(refuser)) refuser.setOnReceive(Intruder.OnReceive.Refuse);
        if (token == NATIVE && payee == address(burner)) burner.setOnReceive(Intruder.OnReceive.BurnGas);
    }

    function _forged(IGeoEscrow escrow, Order memory order, bool toRelease, uint256 kind)
        private
        view
        returns (bytes memory)
    {
        bytes32[] memory list_ = _ids(order);
        bytes32 digest = toRelease ? escrow.releaseDigest(list_) : escrow.refundDigest(list_);
        uint256[] memory keys = new uint256[](2);
        (keys[0], keys[1]) = (attesterKeys[0], attesterKeys[1]);
        uint256[] memory one = new uint256[](1);
        one[0] = uint256(keccak256("stranger"));
        Attestation memory attestation = _attestBy(THRESHOLD, attesterAddresses, keys, digest);
        if (kind == 0) attestation = _attestBy(1, _strangers(), one, digest);
        if (kind == 1) attestation.signatures[1] = attestation.signatures[0];
        if (kind == 2) attestation.signatures[1] = _signature(one[0], digest);
        if (kind == 3) attestation.threshold = 1;
        if (kind == 4) attestation = _attest(toRelease ? escrow.refundDigest(list_) : escrow.releaseDigest(list_));
        if (kind == 5) {
            IGeoEscrow other = address(escrow) == address(escrows[0]) ? escrows[1] : escrows[0];
            attestation = _attest(toRelease ? other.releaseDigest(list_) : other.refundDigest(list_));
        }
        if (kind == 6) attestation.threshold = 0;
        if (kind == 6) attestation.signatures = new bytes[](0);
        if (kind == 7) {
            (keys[0], keys[1]) = (keys[1], keys[0]);
            attestation = _attestBy(THRESHOLD, attesterAddresses, keys, digest);
        }
        if (kind == 8) {
            one[0] = attesterKeys[2];
            attestation = _attestBy(THRESHOLD, attesterAddresses, one, digest);
        }
        Order[] memory list = new Order[](1);
        list[0] = order;
        if (uint256(digest) % 2 == 0) {
            return toRelease
                ? abi.encodeCall(IGeoEscrow.release, (order, attestation))
                : abi.encodeCall(IGeoEscrow.refundEarly, (order, attestation));
        }
        return toRelease
            ? abi.encodeCall(IGeoEscrow.releaseMany, (list, attestation))
            : abi.encodeCall(IGeoEscrow.refundMany, (list, attestation));
    }

    /// @dev Orders that may be decided, one of them twice, between ones that cannot be decided at all.
    function _list(uint256 seed, function(bytes32) internal view returns (bool) may)
        private
        returns (IGeoEscrow escrow, Order[] memory list)
    {
        uint256 chain = _begin(seed);
        escrow = escrows[chain];
        Order[] memory found = new Order[](8);
        uint256 count = 0;
        for (uint256 i = live.length; i > 0 && i + WINDOW > live.length && count < 2; --i) {
            if (may(live[i - 1])) found[count++] = orders[indexOf[live[i - 1]]];
        }
        for (uint256 i = orders.length; i > 0 && i + 2 * WINDOW > orders.length && count < 4; --i) {
            // What is of another escrow, or decided already, stays in.
            if (may(ids[i - 1])) found[count++] = orders[i - 1];
        }
        list = new Order[](count + 2);
        for (uint256 i = 0; i < count; ++i) {
            list[i] = found[i];
        }
        list[count] = count == 0 ? _newOrder(chain, chain) : found[0];
        list[count + 1] = _newOrder(chain, 1 - chain);
    }

    /// @dev A wallet's credit, if there is one, and rather one that can be paid.
    function _findCredit(uint256 chain) private returns (IGeoEscrow escrow, address token, address who) {
        uint256 start = _rand(tokens.length * wallets.length);
        escrow = escrows[chain];
        for (uint256 i = 0; i < tokens.length * wallets.length; ++i) {
            uint256 place = (start + i) % (tokens.length * wallets.length);
            token = tokens[place % tokens.length];
            who = wallets[place / tokens.length];
            if (creditOf[address(escrow)][token][who] == 0) continue;
            if (!blocking.blocked(who) || token != address(blocking) || _oneIn(4)) return (escrow, token, who);
        }
    }
}
