// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {Moves} from "../base/Moves.sol";
import {vm} from "../base/Vm.sol";
import {PriceFeed} from "../mocks/PriceFeed.sol";
import {Token} from "../mocks/Token.sol";

contract TradeFloorFuzzTest is Moves {
    struct Decimals {
        uint8 soldFeed;
        uint8 soldToken;
        uint8 boughtFeed;
        uint8 boughtToken;
    }

    struct Exact {
        uint256 amount;
        uint256 sold;
        uint256 bought;
        uint256 slippageBps;
    }

    struct Attempt {
        uint256 amount;
        uint256 minOut;
        uint64 price;
        uint16 taken;
        uint256 paid;
        uint256 lie;
        bool isSale;
    }

    /// @dev The floor is what the feeds' price allows, rounded down by less than two units, and never zero. The price
    /// is a fraction of two whole numbers here, which are multiplied out and compared without rounding.
    function testFuzz_theFloorIsTheFeedsPriceLessTheSlippage(
        uint96 amount,
        uint96 sold,
        uint96 bought,
        uint16 slippageBps,
        Decimals memory decimals,
        bool isSale
    ) public {
        (sold, bought) = (sold == 0 ? 1 : sold, bought == 0 ? 1 : bought);
        slippageBps = slippageBps % 301;
        (address tokenIn, address tokenOut) =
            isSale ? (address(other), address(plain)) : (address(plain), address(other));
        decimals = Decimals(
            decimals.soldFeed % 19, decimals.soldToken % 19, decimals.boughtFeed % 19, decimals.boughtToken % 19
        );
        _price(tokenIn, decimals.soldFeed, decimals.soldToken, sold, isSale ? slippageBps : 0);
        _price(tokenOut, decimals.boughtFeed, decimals.boughtToken, bought, isSale ? 0 : slippageBps);

        _checkFloor(tokenIn, tokenOut, Exact(amount, sold, bought, slippageBps), decimals);
    }

    /// @dev For any amounts that the router takes, pays and returns, a trade that is made returned the minimum for the
    /// whole budget and left no allowance, and one that is not made left no trace.
    function testFuzz_aTradeReturnsTheMinimumOrIsNotMade(Attempt memory attempt) public {
        (address tokenIn, address tokenOut) =
            attempt.isSale ? (address(other), address(plain)) : (address(plain), address(other));
        uint256 amount = 1 + attempt.amount % 1e20;
        otherFeed.setAnswer(int256(1e4 + uint256(attempt.price) % 1e12));
        uint256 minimum = vault.tradeFloor(tokenIn, tokenOut, amount);
        // Around the floor, where what is too little and what is enough are neighbours.
        uint256 minOut = attempt.minOut % 3 == 0 ? 0 : _near(minimum, attempt.minOut);
        if (minOut > minimum) minimum = minOut;
        uint256 paid = 1 + _near(minimum, attempt.paid);
        uint256 takenBps = attempt.taken % 4 == 0 ? attempt.taken % 10_001 : 10_000;
        router.set(0, takenBps, attempt.lie % 2 == 0 ? 0 : attempt.lie % 1e30, 0);
        router.setExactOut(paid);
        plain.mint(address(router.POOLS()), 1e40);
        other.mint(address(router.POOLS()), 1e40);
        uint256[2] memory before = _balances(tokenIn, tokenOut);

        bool ok = _try(tokenIn, tokenOut, amount, minOut);
        bool isTaken = amount * takenBps / 10_000 == amount;
        vm.assertTrue(ok == (isTaken && paid >= minimum), "made, or not made, for another reason");
        vm.assertTrue(vault.isMoved("move") == ok, "noted");
        uint256[2] memory afterwards = _balances(tokenIn, tokenOut);
        vm.assertEq(before[0] - afterwards[0], ok ? amount : 0, "sold");
        vm.assertEq(afterwards[1] - before[1], ok ? paid : 0, "bought");
        vm.assertEq(plain.allowance(address(vault), address(router)), 0, "allowance left");
        vm.assertEq(other.allowance(address(vault), address(router)), 0, "allowance left");
    }

    function _checkFloor(address tokenIn, address tokenOut, Exact memory exact, Decimals memory decimals) private {
        // amount × sold × 10^up × (1 - slippage) / (bought × 10^down), with one of the powers cancelled.
        uint256 up = uint256(decimals.boughtFeed) + decimals.boughtToken;
        uint256 down = uint256(decimals.soldFeed) + decimals.soldToken;
        (up, down) = up > down ? (up - down, uint256(0)) : (uint256(0), down - up);
        uint256 numerator = exact.amount * exact.sold;
        uint256 denominator = exact.bought * 10 ** down;
        (uint256 high,) = _product(numerator, 10 ** up);
        if (high >= denominator) {
            // The largest number, which no trade can return.
            vm.expectRevert();
            vault.tradeFloor(tokenIn, tokenOut, exact.amount);
            return;
        }
        uint256 floor = vault.tradeFloor(tokenIn, tokenOut, exact.amount);
        numerator *= 10_000 - exact.slippageBps;
        denominator *= 10_000;
        vm.assertTrue(floor != 0, "the floor is zero");
        if (floor > 1) {
            vm.assertTrue(!_isLess(numerator, 10 ** up, floor, denominator), "above the price that is allowed");
        }
        if (floor < type(uint256).max - 2) {
            vm.assertTrue(_isLess(numerator, 10 ** up, floor + 2, denominator), "two units below the price");
        }
    }

    function _try(address tokenIn, address tokenOut, uint256 amount, uint256 minOut) private returns (bool ok) {
        bytes memory data =
            abi.encodeCall(IGeoVault.trade, ("move", tokenIn, tokenOut, amount, minOut, POOL_FEE, 0, NOW));
        vm.prank(treasurer);
        (ok,) = address(vault).call(data);
    }

    /// @dev A number at most ten away.
    function _near(uint256 value, uint256 seed) private pure returns (uint256) {
        return value - (value > 10 ? 10 : value) + seed % 20;
    }

    function _price(address token, uint8 feedDecimals, uint8 tokenDecimals, uint256 price, uint16 slippageBps) private {
        Token(token).setDecimals(tokenDecimals);
        _feed(token, address(new PriceFeed(feedDecimals, int256(price))), MAX_AGE, slippageBps);
    }

    function _balances(address tokenIn, address tokenOut) private view returns (uint256[2] memory) {
        return [Token(tokenIn).balanceOf(address(vault)), Token(tokenOut).balanceOf(address(vault))];
    }

    /// @dev Whether a × b < c × d, exactly.
    function _isLess(uint256 a, uint256 b, uint256 c, uint256 d) private pure returns (bool) {
        (uint256 high, uint256 low) = _product(a, b);
        (uint256 otherHigh, uint256 otherLow) = _product(c, d);
        return high == otherHigh ? low < otherLow : high < otherHigh;
    }

    /// @dev The 512 bits of a product, by halves as on paper.
    function _product(uint256 a, uint256 b) private pure returns (uint256 high, uint256 low) {
        uint256 half = 1 << 128;
        (uint256 aHigh, uint256 aLow, uint256 bHigh, uint256 bLow) = (a / half, a % half, b / half, b % half);
        uint256 middle = aLow * bLow / half + aHigh * bLow % half + aLow * bHigh % half;
        high = aHigh * bHigh + aHigh * bLow / half + aLow * bHigh / half + middle / half;
        low = (middle % half) * half + aLow * bLow % half;
    }
}
