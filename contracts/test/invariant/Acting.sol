// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order} from "../../src/Order.sol";
import {Attestation, IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {IGeoVault, VaultState} from "../../src/interfaces/IGeoVault.sol";
import {packDeadlines, unword, word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {Books} from "./Books.sol";

/// @dev The parts that all actions share, which are chance, orders to act on, honest attesters, and the count of what
/// had an effect.
abstract contract Acting is Books {
    /// @dev How far back from the newest order actions mostly look for one. A small window lets all actions meet on the
    /// same few orders, a large one keeps many open at the same time.
    uint256 internal immutable WINDOW;

    mapping(string action => uint256) public effects;
    uint256 public calls;
    uint256 private _state;
    uint256 private _made;

    constructor(uint256 window) {
        WINDOW = window;
    }

    /// @dev A call of the campaign starts with a separate source of chance, on one of the chains.
    function _begin(uint256 seed) internal returns (uint256 chain) {
        ++calls;
        _state = uint256(keccak256(abi.encode(seed, calls, WINDOW)));
        vm.recordLogs();
        (claimer, revoker) = (address(0), address(0));
        (isOpening, ownMinimum) = (false, 0);
        chain = _rand(CHAINS);
        _goTo(chain);
    }

    /// @dev Counts the call as one that took effect if the contracts emitted `topic`.
    function _end(string memory action, bytes32 topic) internal {
        if (_book(topic) != 0) ++effects[action];
    }

    function _end(string memory action) internal {
        _book(0);
        ++effects[action];
    }

    function _rand(uint256 below) internal returns (uint256) {
        _state = uint256(keccak256(abi.encode(_state)));
        return _state % below;
    }

    function _oneIn(uint256 n) internal returns (bool) {
        return _rand(n) == 0;
    }

    function _newOrder(uint256 origin, uint256 destination) internal returns (Order memory order) {
        order.originChainId = _chainId(origin);
        order.destinationChainId = _chainId(destination);
        order.escrow = word(address(escrows[origin]));
        order.originVault = word(address(vaults[origin]));
        order.destinationVault = word(address(vaults[destination]));
        order.attesterSet = _set();
        order.wallet = word(_someWallet());
        order.inputToken = word(_someToken());
        order.inputAmount = 1 + _rand(10 ** (1 + _rand(24)));
        order.outputToken = word(_someToken());
        order.minOutput = 1 + _rand(10 ** (1 + _rand(24)));
        // A recipient may also be one of the contracts themselves.
        order.recipient = word(_oneIn(12) ? address(escrows[destination]) : _oneIn(12) ? stranger : _someWallet());
        order.topUp = _oneIn(2) ? 1 + _rand(10 ** (1 + _rand(24))) : 0;
        order.swapKey = bytes32(++_made);
        uint256 open = vm.getBlockTimestamp() + _rand(60);
        uint256 fill = open + 1 + _rand(600);
        order.deadlines = packDeadlines(open, fill, fill + 1 + (_oneIn(8) ? _rand(2 days) : _rand(600)));
    }

    function _someWallet() internal returns (address) {
        uint256 kind = _rand(wallets.length + 3);
        return wallets[kind < wallets.length ? kind : kind - 3];
    }

    /// @dev The tokens that make trouble come more often.
    function _someToken() internal returns (address) {
        uint256 kind = _rand(tokens.length + 8);
        if (kind < tokens.length) return tokens[kind];
        kind -= tokens.length;
        return kind < 2 ? address(hook) : kind < 4 ? NATIVE : address(blocking);
    }

    /// @dev The wallet approves what the order names and opens it, in its own transactions.
    function _open(Order memory order, bytes memory data, uint256 value) internal returns (bool ok) {
        (isOpening, consents[order.orderId()].byOwner) = (true, true);
        address wallet = unword(order.wallet);
        address token = unword(order.inputToken);
        address escrow = unword(order.escrow);
        if (token != NATIVE) {
            vm.prank(wallet);
            (ok,) = token.call(abi.encodeCall(_token(token).approve, (escrow, order.inputAmount)));
        }
        vm.prank(wallet);
        (ok,) = escrow.call{value: value}(data);
        if (!ok) vm.getRecordedLogs();
        if (token != NATIVE && !ok) {
            vm.prank(wallet);
            (bool reset,) = token.call(abi.encodeCall(_token(token).approve, (escrow, 0)));
            assert(reset);
        }
    }

    /// @dev Some order, more often a late one.
    function _some() internal returns (Order memory) {
        uint256 count = orders.length;
        return orders[count > WINDOW && !_oneIn(4) ? count - 1 - _rand(WINDOW) : _rand(count)];
    }

    /// @dev An open order of the campaign that fits, between these chains where they are chains.
    function _find(function(bytes32) internal view returns (bool) fits, uint256 origin, uint256 destination)
        internal
        returns (bool found, Order memory order)
    {
        uint256 count = live.length < WINDOW ? live.length : WINDOW;
        if (count == 0) return (false, order);
        uint256 start = _rand(count);
        for (uint256 i = 0; i < count; ++i) {
            bytes32 id = live[live.length - 1 - (start + i) % count];
            Entry memory entry = entries[id];
            if (origin < CHAINS && entry.origin != _chainId(origin)) continue;
            if (destination < CHAINS && entry.destination != _chainId(destination)) continue;
            if (fits(id)) return (true, orders[indexOf[id]]);
        }
    }

    function _isOpen(bytes32) internal pure returns (bool) {
        return true;
    }

    function _isUndecided(bytes32 id) internal view returns (bool) {
        return entries[id].vault == VaultState.None;
    }

    function _isFillable(bytes32 id) internal view returns (bool) {
        return _isUndecided(id) && vm.getBlockTimestamp() < orders[indexOf[id]].deadlines.fillDeadline();
    }

    /// @dev Its time to be refunded by anyone has come, or comes soon.
    function _isDue(bytes32 id) internal view returns (bool) {
        return vm.getBlockTimestamp() + 5 minutes > orders[indexOf[id]].deadlines.refundAfter();
    }

    /// @dev An honest attester signs RELEASE of orders that it read as filled, and of no others.
    function _mayRelease(bytes32 id) internal view returns (bool) {
        return entries[id].ours && _vaultOf(id).orderState(id) == VaultState.Filled;
    }

    /// @dev An honest attester signs REFUND of what can never be filled any more.
    function _mayRefund(bytes32 id) internal view returns (bool) {
        if (!entries[id].ours) return false;
        VaultState state = _vaultOf(id).orderState(id);
        return state == VaultState.Voided
            || (state == VaultState.None && vm.getBlockTimestamp() >= orders[indexOf[id]].deadlines.fillDeadline());
    }

    function _vaultOf(bytes32 id) private view returns (IGeoVault) {
        return vaults[_chainOf(entries[id].destination)];
    }

    function _releaseOf(IGeoEscrow escrow, Order memory order) internal view returns (bytes memory) {
        Attestation memory attestation = _attest(escrow.releaseDigest(_ids(order)));
        return abi.encodeCall(IGeoEscrow.release, (order, attestation));
    }

    function _refundOf(IGeoEscrow escrow, Order memory order) internal view returns (bytes memory) {
        Attestation memory attestation = _attest(escrow.refundDigest(_ids(order)));
        return abi.encodeCall(IGeoEscrow.refundEarly, (order, attestation));
    }

    function _call(address sender, address target, bytes memory data) internal returns (bool ok) {
        vm.prank(sender);
        (ok,) = target.call(data);
        if (!ok) vm.getRecordedLogs();
    }
}
