// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order} from "../../src/Order.sol";
import {Attestation, IGeoEscrow, Opening} from "../../src/interfaces/IGeoEscrow.sol";
import {CapKind, Fill, IGeoVault, VaultState} from "../../src/interfaces/IGeoVault.sol";
import {termsOf, unword, word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {IVault} from "../base/World.sol";
import {Intruder} from "../mocks/Intruder.sol";
import {Token} from "../mocks/Token.sol";
import {TreasurerActions} from "./TreasurerActions.sol";

/// @dev The surroundings of the contracts, which are time, and tokens and wallets that misbehave.
abstract contract TroubleActions is TreasurerActions {
    function timePasses(uint256 seed) external {
        _begin(seed);
        vm.warp(vm.getBlockTimestamp() + (_oneIn(50) ? _rand(2 hours) : _rand(20)));
        _end("timePasses");
    }

    /// @dev To the second before, at, or after one of an order's deadlines.
    function timeComesToADeadline(uint256 seed) external {
        if (orders.length == 0) return;
        _begin(seed);
        Order memory order = _some();
        uint256 kind = _rand(3);
        uint256 time = kind == 0
            ? order.deadlines.openDeadline()
            : kind == 1 ? order.deadlines.fillDeadline() : order.deadlines.refundAfter();
        time = time + _rand(3) - 1;
        if (time <= vm.getBlockTimestamp() || time > vm.getBlockTimestamp() + 5 minutes) return;
        vm.warp(time);
        _end("timeComesToADeadline");
    }

    function moreTrouble(uint256 seed) external {
        trouble(seed);
    }

    function trouble(uint256 seed) public {
        _begin(seed);
        uint256 kind = _rand(8);
        if (kind < 3) _tokenBlocks();
        else if (kind < 5) _walletRefuses();
        else if (kind == 5) _tokenTakesAFee();
        else if (kind == 6) _tokenRebases();
        else _donate();
    }

    /// @dev Wallets, recipients, our own vaults and the escrows can be blocked.
    function _tokenBlocks() private {
        uint256 kind = _rand(4);
        uint256 chain = _rand(CHAINS);
        address account = _someWallet();
        if (kind == 0) account = address(escrows[chain]);
        if (kind == 1) account = address(vaults[chain]);
        blocking.setBlocked(account, _oneIn(2));
        blocking.setQuiet(_oneIn(2));
        _end("tokenBlocks");
    }

    function _tokenTakesAFee() private {
        fee.setFee(_oneIn(2) ? 0 : 1 + _rand(500));
        _end("tokenTakesAFee");
    }

    function _tokenRebases() private {
        address account = _oneIn(2) ? address(escrows[_rand(CHAINS)]) : wallets[_rand(wallets.length)];
        uint256 balance = rebasing.balanceOf(account);
        uint256 change = _rand(balance / 10 + 2);
        uint256 changed = _oneIn(2) || change > balance ? balance + change : balance - change;
        rebasing.rebase(account, changed);
        if (_isEscrow(account)) extra[account][address(rebasing)] += int256(changed) - int256(balance);
        _end("tokenRebases");
    }

    function _walletRefuses() private {
        Intruder.OnReceive mode = _oneIn(3) ? Intruder.OnReceive.Accept : Intruder.OnReceive.Refuse;
        refuser.setOnReceive(mode);
        if (mode == Intruder.OnReceive.Refuse && _oneIn(2)) {
            mode = _oneIn(2) ? Intruder.OnReceive.BurnGas : Intruder.OnReceive.FloodReturnData;
        }
        burner.setOnReceive(mode);
        _end("walletRefuses");
    }

    function _donate() private {
        address token = tokens[1 + _rand(tokens.length - 1)];
        address escrow = address(escrows[_rand(CHAINS)]);
        uint256 amount = _rand(1e18);
        // The native token is taken only while an order is opened.
        vm.prank(wallets[0]);
        (bool ok,) = escrow.call{value: amount}("");
        _check(!ok, "I1: an escrow took the native token without an order");
        Token(token).mint(escrow, amount);
        extra[escrow][token] += int256(amount);
        _end("donate");
    }

    /// @dev An order is opened, decided or filled while the intruder, given control in the middle of it, tries
    /// functions of escrow and vault, on the same order and on another, with signatures that are good.
    function reenter(uint256 seed) external {
        uint256 chain = _begin(seed);
        (bool found, Order memory order) = _findHooked(chain);
        if (!found) return;
        Order memory other = _some();
        uint256 before = intruder.attempts();
        intruder.arm(_some(_everything(chain, order, other)));
        VaultState state = entries[order.orderId()].vault;
        address escrow = address(escrows[chain]);
        if (_oneIn(3)) {
            _openHooked(chain);
        } else if (state == VaultState.Filled) {
            _call(stranger, escrow, _releaseOf(escrows[chain], order));
        } else if (_mayRefund(order.orderId())) {
            _call(stranger, escrow, _refundOf(escrows[chain], order));
        } else if (order.destinationChainId == order.originChainId) {
            _call(operator, address(vaults[chain]), abi.encodeCall(IGeoVault.fill, (_item(order))));
        } else {
            _call(stranger, escrow, abi.encodeCall(IGeoEscrow.refund, (order)));
        }
        _disarm();
        claimer = address(intruder);
        _book(0);
        if (intruder.attempts() != before) ++effects["reenter"];
    }

    /// @dev A part of the calls, because the intruder has to keep them all until it is given control, which takes long.
    function _some(Intruder.Call[] memory all) private returns (Intruder.Call[] memory some) {
        some = new Intruder.Call[](8);
        uint256 start = _rand(all.length);
        for (uint256 i = 0; i < some.length; ++i) {
            some[i] = all[(start + i * 7) % all.length];
        }
    }

    /// @dev A wallet pays with a token that gives the intruder control.
    function _openHooked(uint256 chain) private {
        Order memory order = _newOrder(chain, 1 - chain);
        order.inputToken = word(address(hook));
        order.wallet = word(wallets[_rand(DELEGATED)]);
        _register(order, true);
        if (_openFor(order, _ownersProof(order, TYPED))) ++effects["reenterWhilePaying"];
    }

    /// @dev An open order whose payment gives the intruder control.
    function _findHooked(uint256 chain) private view returns (bool, Order memory order) {
        for (uint256 i = live.length; i > 0 && i + 2 * WINDOW > live.length; --i) {
            if (entries[live[i - 1]].origin != _chainId(chain)) continue;
            order = orders[indexOf[live[i - 1]]];
            bool hooked = order.inputToken == word(address(hook)) || order.outputToken == word(address(hook));
            bool native = order.inputToken == 0 && order.wallet == word(address(intruder));
            if (hooked || native) return (true, order);
        }
        return (false, order);
    }

    function _everything(uint256 chain, Order memory order, Order memory other)
        private
        returns (Intruder.Call[] memory calls)
    {
        address escrow = address(escrows[chain]);
        address vault = address(vaults[chain]);
        address hooked = address(hook);
        calls = new Intruder.Call[](25);
        Order[] memory both = new Order[](2);
        (both[0], both[1]) = (order, other);
        Attestation memory none;
        calls[0] = _step(escrow, abi.encodeCall(IGeoEscrow.refund, (order)));
        calls[1] = _step(escrow, abi.encodeCall(IGeoEscrow.refund, (other)));
        calls[2] = _step(escrow, abi.encodeCall(IGeoEscrow.open, (termsOf(order))));
        calls[3] = _step(escrow, abi.encodeCall(IGeoEscrow.releaseFilled, (order)));
        calls[4] = _step(escrow, abi.encodeCall(IGeoEscrow.claim, (hooked, address(intruder))));
        calls[5] = _step(escrow, abi.encodeCall(IGeoEscrow.claimTo, (hooked, stranger)));
        calls[6] = _step(escrow, abi.encodeCall(IGeoEscrow.claimTo, (NATIVE, stranger)));
        calls[7] = _step(vault, abi.encodeCall(IGeoVault.fill, (_item(order))));
        calls[8] = _step(vault, abi.encodeCall(IGeoVault.fillMany, (new Fill[](1))));
        calls[9] = _step(vault, abi.encodeCall(IVault.fillOne, (_item(order))));
        calls[10] = _step(vault, abi.encodeCall(IGeoVault.void, (order)));
        calls[11] = _step(vault, abi.encodeCall(IGeoVault.voidMany, (both)));
        calls[12] = _step(vault, abi.encodeCall(IGeoVault.withdraw, (hooked, stranger, 1)));
        calls[13] = _step(vault, abi.encodeCall(IGeoVault.claimCredit, (hooked, stranger)));
        calls[14] = _step(vault, abi.encodeCall(IGeoVault.pause, ()));
        calls[15] = _step(escrow, abi.encodeCall(IGeoEscrow.releaseMany, (both, none)));
        calls[16] = _step(escrow, abi.encodeCall(IGeoEscrow.refundMany, (both, none)));
        calls[19] = _step(vault, abi.encodeCall(IGeoVault.setCap, (CapKind.Fill, hooked, NATIVE, 1)));
        calls[20] = _step(vault, abi.encodeCall(IGeoVault.send, (_newMoveId(), hooked, stranger, 1)));
        calls[21] = _step(vault, abi.encodeCall(IGeoVault.bridge, (_newMoveId(), hooked, stranger, 1, "")));
        uint256 deadline = vm.getBlockTimestamp();
        calls[22] = _step(
            vault, abi.encodeCall(IGeoVault.trade, (_newMoveId(), address(plain), NATIVE, 1000, 1, 500, 0, deadline))
        );
        (calls[23], calls[24]) = _openings(chain, escrow);
        if (_mayRelease(order.orderId())) {
            calls[17] = _step(escrow, _releaseOf(escrows[chain], order));
            Attestation memory good = _attest(escrows[chain].releaseDigest(_ids(_twice(order))));
            calls[18] = _step(escrow, abi.encodeCall(IGeoEscrow.releaseMany, (_twice(order), good)));
        } else if (_mayRefund(order.orderId())) {
            calls[17] = _step(escrow, _refundOf(escrows[chain], order));
            Attestation memory good = _attest(escrows[chain].refundDigest(_ids(_twice(order))));
            calls[18] = _step(escrow, abi.encodeCall(IGeoEscrow.refundMany, (_twice(order), good)));
        }
    }

    /// @dev An order that could be opened, by itself and in a batch.
    function _openings(uint256 chain, address escrow)
        private
        returns (Intruder.Call memory single, Intruder.Call memory batch)
    {
        Order memory order = _newOrder(chain, 1 - chain);
        (order.wallet, order.inputToken) = (word(wallets[0]), word(address(plain)));
        _register(order, true);
        bytes memory proof = _ownersProof(order, TYPED);
        Opening[] memory items = new Opening[](1);
        items[0] = Opening({wallet: wallets[0], gas: 10_000, terms: termsOf(order), proof: proof});
        batch = _step(escrow, abi.encodeCall(IGeoEscrow.openMany, (items)));
        single = _step(escrow, abi.encodeCall(IGeoEscrow.openFor, (wallets[0], termsOf(order), proof)));
    }

    function _twice(Order memory order) private pure returns (Order[] memory list) {
        list = new Order[](2);
        (list[0], list[1]) = (order, order);
    }

    function _step(address target, bytes memory data) private pure returns (Intruder.Call memory) {
        return Intruder.Call({target: target, value: 0, data: data});
    }
}
