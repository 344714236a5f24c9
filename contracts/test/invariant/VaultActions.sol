// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order} from "../../src/Order.sol";
import {CapKind, Fill, IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {unword, word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {IVault} from "../base/World.sol";
import {DecideActions} from "./DecideActions.sol";

/// @dev Fills, voids and what the vault's keys do, and what others try without those keys.
abstract contract VaultActions is DecideActions {
    function fill(uint256 seed) public {
        uint256 chain = _begin(seed);
        (bool found, Order memory order) = _toFill(chain);
        if (!found) return;
        bool wasPaused = vaults[chain].paused();
        _call(operator, address(vaults[chain]), abi.encodeCall(IGeoVault.fill, (_item(order))));
        _endFill("fill", wasPaused);
    }

    function fillMore(uint256 seed) external {
        fill(seed);
    }

    function fillThroughRouter(uint256 seed) external {
        uint256 chain = _begin(seed);
        (bool found, Order memory order) = _toFill(chain);
        // What goes through the router comes out as another token than went in.
        if (!found || unword(order.outputToken) == address(plain)) return;
        uint256 rate = 1 + _rand(20_000);
        uint256 amount = order.minOutput * 10_000 / rate + (_oneIn(6) ? 0 : 2);
        bool runsDry = _oneIn(3);
        // It may still pay the minimum, and leave a part of the budget.
        if (runsDry && _oneIn(2)) amount = amount * 5 / 4;
        router.set(rate, runsDry ? 9_000 : 10_000, _oneIn(6) ? 1 : 0, _oneIn(6) ? 1 : 0);
        Fill memory item = Fill({
            order: order,
            amount: amount,
            minOutput: _rand(order.minOutput + 1),
            poolFee: 3000,
            secondPoolFee: _oneIn(2) ? 500 : 0
        });
        bool wasPaused = vaults[chain].paused();
        // A router that lies is paid for with wrapped inventory, so that there is some.
        wrapped.mint(address(vaults[chain]), router.lie());
        _call(operator, address(vaults[chain]), abi.encodeCall(IGeoVault.fill, (item)));
        _check(
            plain.allowance(address(vaults[chain]), address(router)) == 0, "I13: an allowance was left to the router"
        );
        _endFill("fillThroughRouter", wasPaused);
    }

    /// @dev Items of the list fail each for its own reason, and some are there twice.
    function fillMany(uint256 seed) external {
        if (orders.length == 0) return;
        uint256 chain = _begin(seed);
        Fill[] memory items = new Fill[](4);
        for (uint256 i = 0; i < 2; ++i) {
            (bool found, Order memory order) = _toFill(chain);
            items[i] = _item(found ? order : _some());
        }
        items[2] = items[0];
        items[3] = _item(_some());
        bool wasPaused = vaults[chain].paused();
        _call(operator, address(vaults[chain]), abi.encodeCall(IGeoVault.fillMany, (items)));
        _endFill("fillMany", wasPaused);
    }

    function voidOne(uint256 seed) external {
        uint256 chain = _begin(seed);
        (bool found, Order memory order) = _find(_isUndecided, CHAINS, chain);
        if (!found) return;
        // The operator gives an order up late, or at random.
        if (order.deadlines.fillDeadline() > vm.getBlockTimestamp() + 60 && !_oneIn(4)) return;
        _call(operator, address(vaults[chain]), abi.encodeCall(IGeoVault.void, (order)));
        _end("voidOne", IGeoVault.Voided.selector);
    }

    function voidMany(uint256 seed) external {
        if (orders.length == 0) return;
        uint256 chain = _begin(seed);
        Order[] memory list = new Order[](3);
        if (_oneIn(4)) (, list[0]) = _find(_isUndecided, CHAINS, chain);
        (list[1], list[2]) = (list[0], _some());
        bool ok = _call(operator, address(vaults[chain]), abi.encodeCall(IGeoVault.voidMany, (list)));
        _check(ok, "I5: a list with orders that cannot be voided stopped the others");
        _end("voidMany", IGeoVault.Voided.selector);
    }

    /// @dev What guardian, resume, config and treasury do.
    function keysAct(uint256 seed) external {
        uint256 chain = _begin(seed);
        uint256 kind = _rand(12);
        if (kind < 2) _pause(chain);
        else if (kind < 7) _unpause(chain);
        else if (kind < 9) _setCap(chain);
        else _withdraw(chain);
    }

    function _pause(uint256 chain) private {
        if (_call(guardian, address(vaults[chain]), abi.encodeCall(IGeoVault.pause, ()))) _end("pause");
    }

    function _unpause(uint256 chain) private {
        if (_call(resume, address(vaults[chain]), abi.encodeCall(IGeoVault.unpause, ()))) _end("unpause");
    }

    function _setCap(uint256 chain) private {
        address token = _someToken();
        uint96 cap = uint96(_oneIn(8) ? 0 : 10 ** (22 + _rand(4)));
        _call(config, address(vaults[chain]), abi.encodeCall(IGeoVault.setCap, (CapKind.Fill, token, NATIVE, cap)));
        _end("setCap", IGeoVault.CapSet.selector);
    }

    /// @dev Also to the escrow, where inventory is a donation.
    function _withdraw(uint256 chain) private {
        address token = _someToken();
        address to = _oneIn(3) && token != address(fee) ? address(escrows[_rand(CHAINS)]) : treasury;
        uint256 amount = _rand(1e24);
        bool ok = _call(treasury, address(vaults[chain]), abi.encodeCall(IGeoVault.withdraw, (token, to, amount)));
        if (ok && to != treasury) extra[to][token] += int256(amount);
        _end("withdraw", IGeoVault.Withdrawn.selector);
    }

    /// @dev Everything that a role guards, from everyone who has another role or none.
    function actWithoutTheRole(uint256 seed) external {
        uint256 chain = _begin(seed);
        IVault vault = vaults[chain];
        Order memory order = orders.length == 0 ? _newOrder(chain, chain) : _some();
        (bytes memory data, address role) = _roleCall(_rand(14), order);
        address[8] memory callers = [operator, guardian, treasury, treasurer, config, resume, stranger, admin];
        address caller = callers[_rand(callers.length)];
        if (caller == role) caller = stranger;
        _check(!_call(caller, address(vault), data), "roles: a call was let through without its role");
        _end("actWithoutTheRole");
    }

    /// @dev A call, and whose it is.
    function _roleCall(uint256 kind, Order memory order) private returns (bytes memory, address) {
        if (kind == 0) return (abi.encodeCall(IGeoVault.fill, (_item(order))), operator);
        if (kind == 1) return (abi.encodeCall(IGeoVault.fillMany, (new Fill[](0))), operator);
        if (kind == 2) return (abi.encodeCall(IGeoVault.void, (order)), operator);
        if (kind == 3) return (abi.encodeCall(IGeoVault.voidMany, (new Order[](0))), operator);
        if (kind == 4) return (abi.encodeCall(IVault.fillOne, (_item(order))), NATIVE);
        if (kind == 5) return (abi.encodeCall(IGeoVault.withdraw, (NATIVE, stranger, 1)), treasury);
        if (kind == 6) return (abi.encodeCall(IGeoVault.claimCredit, (NATIVE, stranger)), treasury);
        if (kind == 7) return (abi.encodeCall(IGeoVault.pause, ()), guardian);
        if (kind == 8) return (abi.encodeCall(IGeoVault.unpause, ()), resume);
        if (kind == 9) return (abi.encodeCall(IGeoVault.setCap, (CapKind.Fill, NATIVE, NATIVE, 1)), config);
        if (kind == 10) return (abi.encodeCall(IGeoVault.setFeed, (NATIVE, NATIVE, 1, 1)), config);
        bytes32 moveId = keccak256(abi.encode(_rand(type(uint256).max)));
        if (kind == 11) return (abi.encodeCall(IGeoVault.send, (moveId, NATIVE, relayer, 1)), treasurer);
        if (kind == 12) return (abi.encodeCall(IGeoVault.bridge, (moveId, NATIVE, routes[0], 1, "")), treasurer);
        uint256 deadline = vm.getBlockTimestamp();
        bytes memory data = abi.encodeCall(IGeoVault.trade, (moveId, address(plain), NATIVE, 1000, 1, 500, 0, deadline));
        return (data, treasurer);
    }

    /// @dev An order that the escrow holds, or, seldom, one that is decided, or one that no escrow of the campaign ever
    /// held.
    function _toFill(uint256 chain) private returns (bool found, Order memory order) {
        if (_oneIn(8) && orders.length != 0) return (true, _some());
        if (_oneIn(12)) {
            order = _newOrder(chain, chain);
            if (_oneIn(2)) order.escrow = word(address(escrows[1 - chain]));
            _register(order, true);
            return (true, order);
        }
        (found, order) = _find(_isFillable, CHAINS, chain);
    }

    function _item(Order memory order) internal returns (Fill memory) {
        uint256 amount = order.minOutput + (_oneIn(2) ? _rand(1000) : 0);
        if (_oneIn(8) && amount != 0) --amount;
        return Fill({order: order, amount: amount, minOutput: 0, poolFee: 0, secondPoolFee: 0});
    }

    function _endFill(string memory name, bool wasPaused) private {
        uint256 filled = _book(IGeoVault.Filled.selector);
        (effects["topUp"], effects["topUpRefused"]) = (topUps, topUpsRefused);
        if (filled == 0) return;
        ++effects[name];
        _check(!wasPaused, "pause: a paused vault filled an order");
    }
}
