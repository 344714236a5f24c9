// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {CapKind, Feed, IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {unword, word} from "../base/orders.sol";
import {Vm} from "../base/Vm.sol";
import {Messenger} from "../mocks/Messenger.sol";
import {Token} from "../mocks/Token.sol";
import {WalletBooks} from "./WalletBooks.sol";

/// @dev The part of the books about what leaves a vault, by caps and the treasurer's moves.
abstract contract MoveBooks is WalletBooks {
    /// @dev What every actor and vault must hold of the native token.
    mapping(address => uint256) internal nativeOf;
    /// @dev By payer, token and payee, the amount that events report as paid.
    mapping(address => mapping(address => mapping(address => uint256))) internal paid;
    mapping(bytes32 key => uint256) internal capOf;
    mapping(address vault => mapping(address token => Feed)) private _feeds;
    mapping(address vault => mapping(bytes32 moveId => bool)) internal moved;
    /// @dev The caller's own minimum of the trade under way.
    uint256 internal ownMinimum;

    function _bookMove(Vm.Log memory log) internal {
        bytes32 kind = log.topics[0];
        if (kind == IGeoVault.CapSet.selector) {
            bytes32 key =
                _capKey(log.emitter, CapKind(uint256(log.topics[1])), unword(log.topics[2]), unword(log.topics[3]));
            capOf[key] = abi.decode(log.data, (uint256));
            // A cap that is set anew may let out all of it immediately.
            _forgetOutflows(key);
        } else if (kind == IGeoVault.FeedSet.selector) {
            _feeds[log.emitter][unword(log.topics[1])] = abi.decode(log.data, (Feed));
        } else if (kind == IGeoVault.Traded.selector) {
            _bookTraded(log);
        } else if (kind == IGeoVault.Sent.selector) {
            _bookLeft(log, CapKind.Send, abi.decode(log.data, (uint256)));
        } else if (kind == IGeoVault.Bridged.selector) {
            (uint256 amount,) = abi.decode(log.data, (uint256, bytes));
            _bookLeft(log, CapKind.Bridge, amount);
        }
    }

    function _bookSpending(address vault, CapKind kind, address token, address to, uint256 amount) internal {
        bytes32 key = _capKey(vault, kind, token, to);
        bool isListed = kind == CapKind.Send || kind == CapKind.Bridge;
        _check(
            capOf[key] != 0,
            isListed ? "V4: inventory went to an address that is not listed" : "cap: a token left that has no cap"
        );
        _bookOutflow(
            key,
            capOf[key],
            1 hours,
            amount,
            isListed ? "V4: more went to an address than its cap" : "cap: more of a token left than its cap"
        );
    }

    /// @dev The current answers of the feeds, computed independently of the vault.
    function _floor(address vault, address tokenIn, address tokenOut, uint256 amountIn)
        internal
        view
        returns (uint256)
    {
        uint256 value =
            amountIn * uint256(priceOf[tokenIn].answer()) * 10 ** priceOf[tokenOut].decimals();
        value = value * 10 ** _decimals(tokenOut) / 10 ** _decimals(tokenIn) / 10 ** priceOf[tokenIn].decimals();
        uint256 fair = value / uint256(priceOf[tokenOut].answer());
        uint256 slippageBps = _feeds[vault][tokenIn == address(plain) ? tokenOut : tokenIn].slippageBps;
        return Math.max(1, fair * (10_000 - slippageBps) / 10_000);
    }

    function _capKey(address vault, CapKind kind, address token, address to) internal pure returns (bytes32) {
        return keccak256(abi.encode(vault, kind, token, to));
    }

    function _bookTraded(Vm.Log memory log) private {
        (address vault, address tokenIn, address tokenOut) = (log.emitter, unword(log.topics[2]), unword(log.topics[3]));
        (uint256 amountIn, uint256 amountOut, uint256 minimum) = abi.decode(log.data, (uint256, uint256, uint256));
        _bookMoveOnce(log);
        _bookSpending(vault, CapKind.Trade, tokenIn, NATIVE, amountIn);
        _check(
            (tokenIn == address(plain)) != (tokenOut == address(plain)), "V3: a trade was not of the settlement token"
        );
        _check(_isFresh(vault, tokenIn) && _isFresh(vault, tokenOut), "V3: a trade was made without a fresh price");
        _check(
            vault == address(vaults[0])
                || (sequencer.answer() == 0
                    && sequencer.startedAt() != 0
                    && block.timestamp > sequencer.startedAt() + 1 hours),
            "V3: a trade was made while the sequencer was down"
        );
        if (!_isFresh(vault, tokenIn) || !_isFresh(vault, tokenOut)) return;
        uint256 floor = Math.max(ownMinimum, _floor(vault, tokenIn, tokenOut, amountIn));
        _check(amountOut >= floor && minimum >= floor, "V3: a trade returned less than its minimum");
        address erc20 = tokenIn == NATIVE ? address(wrapped) : tokenIn;
        _check(Token(erc20).allowance(vault, address(router)) == 0, "V3: a trade left an allowance to the router");
        if (tokenIn == NATIVE) nativeOf[vault] -= amountIn;
        if (tokenOut == NATIVE) nativeOf[vault] += amountOut;
        else paid[address(pools)][tokenOut][vault] += amountOut;
        _check(
            tokenOut == NATIVE
                || Token(tokenOut).arrived(address(pools), vault) == paid[address(pools)][tokenOut][vault],
            "V3: another amount arrived from a trade than the event says"
        );
    }

    function _bookLeft(Vm.Log memory log, CapKind kind, uint256 amount) private {
        (address vault, address token, address to) = (log.emitter, unword(log.topics[2]), unword(log.topics[3]));
        _bookMoveOnce(log);
        _check(amount != 0, "V4: a move of nothing");
        _bookSpending(vault, kind, token, to, amount);
        paid[vault][token][to] += amount;
        if (token == NATIVE) {
            nativeOf[vault] -= amount;
            nativeOf[to] += amount;
        } else {
            _check(
                Token(token).sent(vault, to) == paid[vault][token][to], "V4: another amount left than the event says"
            );
        }
        if (kind == CapKind.Bridge) {
            address other = address(vaults[0]) == vault ? address(vaults[1]) : address(vaults[0]);
            Messenger.Burn memory burn = messenger.last();
            _check(
                burn.recipient == word(other) && burn.amount == amount && burn.depositor == to,
                "V4: a route did not pay the other vault"
            );
        }
    }

    function _bookMoveOnce(Vm.Log memory log) private {
        _check(!moved[log.emitter][log.topics[1]], "V5: a move was made twice");
        _check(IGeoVault(log.emitter).isMoved(log.topics[1]), "V5: a move that was made is not known as made");
        moved[log.emitter][log.topics[1]] = true;
    }

    function _isFresh(address vault, address token) private view returns (bool) {
        Feed memory feed = _feeds[vault][token];
        if (feed.feed == address(0)) return false;
        uint256 updatedAt = priceOf[token].updatedAt();
        return priceOf[token].answer() > 0 && (updatedAt == 0 || block.timestamp <= updatedAt + feed.maxAge);
    }

    function _decimals(address token) private view returns (uint256) {
        return token == NATIVE ? 18 : Token(token).decimals();
    }
}
