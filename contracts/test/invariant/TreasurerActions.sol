// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CapKind, IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {vm} from "../base/Vm.sol";
import {VaultActions} from "./VaultActions.sol";

/// @dev The treasurer's moves within caps and prices, and what a thief with its key would try.
abstract contract TreasurerActions is VaultActions {
    struct Trade {
        bytes32 moveId;
        address tokenIn;
        address tokenOut;
        uint256 amountIn;
        uint256 minOut;
        uint256 deadline;
    }

    uint256 private _moves;
    /// @dev Moves that were made or tried, by chain.
    mapping(uint256 chain => bytes32[]) private _moveIds;

    function trade(uint256 seed) external {
        uint256 chain = _begin(seed);
        Trade memory asked = _newTrade(chain);
        sequencer.setStartedAt(vm.getBlockTimestamp() - 1 hours - 1);
        _setRate(chain, asked, _rand(50));
        _trade(chain, asked);
        _end("trade", IGeoVault.Traded.selector);
    }

    /// @dev Below the feeds' price, below the caller's own minimum, with a stale or no price, over the cap, late, twice.
    function tradeOutside(uint256 seed) external {
        uint256 chain = _begin(seed);
        Trade memory asked = _newTrade(chain);
        sequencer.setStartedAt(vm.getBlockTimestamp() - 1 hours - 1);
        uint256 kind = _rand(10);
        uint256 time = vm.getBlockTimestamp();
        if (kind == 0) priceOf[asked.tokenIn].setUpdatedAt(time - 1 hours - _rand(2));
        if (kind == 1) priceOf[asked.tokenOut].setUpdatedAt(time - 1 hours - _rand(2));
        if (kind == 2) sequencer.setAnswer(int256(_rand(2)));
        if (kind == 2) sequencer.setStartedAt(_oneIn(4) ? 0 : time - _rand(1 hours + 1));
        _setRate(chain, asked, 0);
        if (kind == 3) _lowerRate(asked);
        if (kind == 4) asked.minOut = router.rateBps() * asked.amountIn / 10_000 + 1;
        if (kind == 5) asked.amountIn *= 1000;
        if (kind == 6) asked.moveId = _usedMoveId(chain);
        if (kind == 7) asked.deadline = time - 1;
        // Neither side is the settlement token.
        if (kind == 8) asked.tokenIn = asked.tokenIn == address(plain) ? address(fee) : asked.tokenIn;
        if (kind == 8) asked.tokenOut = asked.tokenOut == address(plain) ? address(noReturn) : asked.tokenOut;
        // The pools leave a part of the budget.
        if (kind == 9) router.set(router.rateBps() * 10 / 9 + 1, 9_000, 0, 0);
        // The router may report a payment that it did not make.
        if (_oneIn(2)) router.set(router.rateBps(), router.takenBps(), 1 + _rand(1e30), 0);
        _trade(chain, asked);
        if (kind == 7) _check(_book(IGeoVault.Traded.selector) == 0, "V3: a trade was made after its deadline");
        _end("tradeOutside");
        priceOf[asked.tokenIn].setUpdatedAt(0);
        priceOf[asked.tokenOut].setUpdatedAt(0);
        sequencer.setAnswer(0);
    }

    function moveInventory(uint256 seed) external {
        uint256 chain = _begin(seed);
        bool isBridge = _oneIn(2);
        address to = isBridge ? routes[chain] : _oneIn(2) ? relayer : safe;
        address token = isBridge ? address(plain) : _oneIn(2) ? NATIVE : address(plain);
        _move(chain, isBridge, _newMoveId(), token, to, 1 + _rand(1e9));
        if (isBridge) _end("bridge", IGeoVault.Bridged.selector);
        else _end("send", IGeoVault.Sent.selector);
    }

    /// @dev To others, of nothing, over the cap, twice, or across kinds.
    function moveOutside(uint256 seed) external {
        uint256 chain = _begin(seed);
        bool isBridge = _oneIn(2);
        address to = isBridge ? routes[chain] : relayer;
        address token = address(plain);
        uint256 amount = 1 + _rand(1e9);
        bytes32 moveId = _newMoveId();
        uint256 kind = _rand(6);
        if (kind == 0) to = isBridge ? routes[1 - chain] : stranger;
        if (kind == 1) (to, amount) = (_oneIn(2) ? to : isBridge ? routes[1 - chain] : stranger, 0);
        if (kind == 2) amount = 1e13 + 1;
        if (kind == 3) moveId = _usedMoveId(chain);
        if (kind == 4) token = address(noReturn);
        // A route and an address that are listed, each for the other kind.
        if (kind == 5) to = isBridge ? relayer : routes[chain];
        _move(chain, isBridge, moveId, token, to, amount);
        _end("moveOutside");
    }

    /// @dev What config sets for the treasurer, and how prices and the sequencer change.
    function movesAreSet(uint256 seed) external {
        uint256 chain = _begin(seed);
        uint256 kind = _rand(3);
        if (kind == 0) {
            _setMoveCaps(chain, _oneIn(6) ? 0 : 10 ** (9 + _rand(5)));
            _end("setMoveCap", IGeoVault.CapSet.selector);
        } else if (kind == 1) {
            address token = _priced(_rand(4));
            _setFeed(chain, token, _oneIn(6) ? NATIVE : address(priceOf[token]), uint16(_rand(301)));
            _end("setFeed", IGeoVault.FeedSet.selector);
        } else {
            address token = _priced(_rand(4));
            int256 price = priceOf[token].answer();
            priceOf[token].setAnswer(price + price * (int256(_rand(200)) - 100) / 1000);
            _end("pricesMove");
        }
    }

    /// @dev Caps and feeds to begin with.
    function _listMoves(uint256 chain) internal {
        _setMoveCaps(chain, 1e13);
        for (uint256 i = 0; i < 4; ++i) {
            _setFeed(chain, _priced(i), address(priceOf[_priced(i)]), 100);
        }
    }

    function _newMoveId() internal returns (bytes32) {
        return bytes32(++_moves);
    }

    function _setMoveCaps(uint256 chain, uint256 perHour) private {
        uint96 cap = uint96(perHour);
        _setCap(chain, CapKind.Send, address(plain), relayer, cap);
        _setCap(chain, CapKind.Send, address(plain), safe, cap);
        _setCap(chain, CapKind.Send, NATIVE, relayer, cap);
        _setCap(chain, CapKind.Send, NATIVE, safe, cap);
        _setCap(chain, CapKind.Bridge, address(plain), routes[chain], cap);
        for (uint256 i = 0; i < 4; ++i) {
            _setCap(chain, CapKind.Trade, _priced(i), NATIVE, uint96(perHour * _unit(_priced(i)) / 1e9));
        }
    }

    function _setCap(uint256 chain, CapKind kind, address token, address to, uint96 perHour) private {
        _call(config, address(vaults[chain]), abi.encodeCall(IGeoVault.setCap, (kind, token, to, perHour)));
    }

    function _setFeed(uint256 chain, address token, address feed, uint16 slippageBps) private {
        bytes memory data = abi.encodeCall(IGeoVault.setFeed, (token, feed, 1 hours, slippageBps));
        _call(config, address(vaults[chain]), data);
    }

    function _newTrade(uint256 chain) private returns (Trade memory asked) {
        address token = _priced(1 + _rand(3));
        asked.moveId = _newMoveId();
        _moveIds[chain].push(asked.moveId);
        (asked.tokenIn, asked.tokenOut) = _oneIn(2) ? (address(plain), token) : (token, address(plain));
        asked.amountIn = 1 + _rand(_oneIn(8) ? 10 * _unit(asked.tokenIn) : 100 * _unit(asked.tokenIn));
        asked.deadline = vm.getBlockTimestamp() + _rand(2);
    }

    /// @dev Pools that pay the floor and some bps more.
    function _setRate(uint256 chain, Trade memory asked, uint256 moreBps) private {
        uint256 wanted = _floor(address(vaults[chain]), asked.tokenIn, asked.tokenOut, asked.amountIn);
        wanted += wanted * moreBps / 10_000;
        asked.minOut = wanted;
        // Rounded up, so that the pools pay no less than is wanted.
        router.set((wanted * 10_000 + asked.amountIn - 1) / asked.amountIn, 10_000, 0, 0);
    }

    /// @dev Below the floor.
    function _lowerRate(Trade memory asked) private {
        asked.minOut = 1;
        router.set(router.rateBps() * (9_000 + _rand(999)) / 10_000, 10_000, 0, 0);
    }

    function _trade(uint256 chain, Trade memory asked) private {
        ownMinimum = asked.minOut;
        bytes memory data = abi.encodeCall(
            IGeoVault.trade,
            (
                asked.moveId,
                asked.tokenIn,
                asked.tokenOut,
                asked.amountIn,
                asked.minOut,
                3000,
                _oneIn(3) ? 500 : 0,
                asked.deadline
            )
        );
        bool wasPaused = vaults[chain].paused();
        bool ok = _call(treasurer, address(vaults[chain]), data);
        _check(!ok || !wasPaused, "pause: a paused vault moved inventory");
    }

    function _move(uint256 chain, bool isBridge, bytes32 moveId, address token, address to, uint256 amount) private {
        bytes memory data = isBridge
            ? abi.encodeCall(IGeoVault.bridge, (moveId, token, to, amount, abi.encode(_rand(3), uint32(1000))))
            : abi.encodeCall(IGeoVault.send, (moveId, token, to, amount));
        _moveIds[chain].push(moveId);
        bool wasPaused = vaults[chain].paused();
        bool ok = _call(treasurer, address(vaults[chain]), data);
        _check(!ok || !wasPaused, "pause: a paused vault moved inventory");
        _check(!ok || amount != 0, "V4: a move of nothing");
    }

    function _usedMoveId(uint256 chain) private returns (bytes32) {
        uint256 count = _moveIds[chain].length;
        return count == 0 ? _newMoveId() : _moveIds[chain][count - 1 - _rand(count < 6 ? count : 6)];
    }

    function _priced(uint256 index) private view returns (address) {
        return index == 0 ? address(plain) : index == 1 ? NATIVE : index == 2 ? address(fee) : address(noReturn);
    }

    /// @dev One of the token, in its smallest unit.
    function _unit(address token) private view returns (uint256) {
        return token == NATIVE ? 1e18 : 10 ** _token(token).decimals();
    }
}
