// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CapKind} from "../../src/interfaces/IGeoVault.sol";
import {Messenger} from "../mocks/Messenger.sol";
import {PriceFeed} from "../mocks/PriceFeed.sol";
import {Scene} from "./Scene.sol";
import {vm} from "./Vm.sol";
import {IRoute} from "./World.sol";

/// @dev A scene in which the treasurer may trade, send and bridge.
abstract contract Moves is Scene {
    uint16 internal constant SLIPPAGE_BPS = 50;
    uint32 internal constant MAX_AGE = 1 hours;
    uint96 internal constant MOVE_CAP = 1e24;
    uint24 internal constant POOL_FEE = 500;
    uint256 internal constant ROUTE_FEE_BPS = 14;
    uint32 internal constant DOMAIN = 6;
    bytes32 internal constant VAULT_THERE = keccak256("a vault elsewhere");
    /// The parameters of a route, which are no fee and the finality that Circle calls final.
    bytes internal constant FINAL = abi.encode(0, 2000);

    PriceFeed internal stableFeed;
    PriceFeed internal otherFeed;
    PriceFeed internal nativeFeed;
    Messenger internal messenger;
    IRoute internal route;

    address internal relayer = _actor("relayer");
    address internal coldSafe = _actor("cold safe");

    uint256 private moves;

    function setUp() public virtual override {
        super.setUp();
        // One of `other` is one of the settlement token; the native token is 3000.
        (stableFeed, otherFeed, nativeFeed) = (new PriceFeed(8, 1e8), new PriceFeed(8, 1e8), new PriceFeed(8, 3000e8));
        _feed(address(plain), stableFeed);
        _feed(address(other), otherFeed);
        _feed(NATIVE, nativeFeed);
        messenger = new Messenger();
        messenger.setKnown(DOMAIN, true);
        route = _deployRoute(address(vault), address(messenger), address(plain), DOMAIN, VAULT_THERE, ROUTE_FEE_BPS);
        address[3] memory tokens = [address(plain), address(other), NATIVE];
        for (uint256 i = 0; i < tokens.length; ++i) {
            _cap(CapKind.Trade, tokens[i], NATIVE, MOVE_CAP);
            _cap(CapKind.Send, tokens[i], relayer, MOVE_CAP);
            _cap(CapKind.Send, tokens[i], coldSafe, type(uint96).max);
        }
        _cap(CapKind.Bridge, address(plain), address(route), MOVE_CAP);
    }

    function _feed(address token, PriceFeed feed) internal {
        _feed(token, address(feed), MAX_AGE, SLIPPAGE_BPS);
    }

    function _feed(address token, address feed, uint32 maxAge, uint16 slippageBps) internal {
        vm.prank(config);
        vault.setFeed(token, feed, maxAge, slippageBps);
    }

    /// @dev An id that no move had.
    function _nextMove() internal returns (bytes32) {
        return keccak256(abi.encode("move", ++moves));
    }

    /// @dev A trade as an honest trader makes it, through one pool and immediately, with the floor as its minimum.
    function _trade(address tokenIn, address tokenOut, uint256 amountIn) internal returns (uint256) {
        return _trade(_nextMove(), tokenIn, tokenOut, amountIn, 0);
    }

    function _trade(bytes32 moveId, address tokenIn, address tokenOut, uint256 amountIn, uint256 minOut)
        internal
        returns (uint256)
    {
        vm.prank(treasurer);
        return vault.trade(moveId, tokenIn, tokenOut, amountIn, minOut, POOL_FEE, 0, vm.getBlockTimestamp());
    }

    /// @dev Expects the next trade to fail.
    function _tradeReverts(address tokenIn, address tokenOut, uint256 amountIn, bytes memory reason) internal {
        bytes32 moveId = _nextMove();
        vm.expectRevert(reason);
        _trade(moveId, tokenIn, tokenOut, amountIn, 0);
        vm.assertTrue(!vault.isMoved(moveId), "a move that failed was noted");
    }

    function _send(bytes32 moveId, address token, address to, uint256 amount) internal {
        vm.prank(treasurer);
        vault.send(moveId, token, to, amount);
    }

    function _bridge(bytes32 moveId, address token, address to, uint256 amount, bytes memory data) internal {
        vm.prank(treasurer);
        vault.bridge(moveId, token, to, amount, data);
    }

    function _available(CapKind kind, address token, address to) internal view returns (uint256 available) {
        (, available) = vault.capOf(kind, token, to);
    }
}
