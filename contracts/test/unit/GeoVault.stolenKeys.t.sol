// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CapExceeded} from "../../src/Cap.sol";
import {Order} from "../../src/Order.sol";
import {CapKind, Fill, IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {Moves} from "../base/Moves.sol";
import {packDeadlines, word} from "../base/orders.sol";
import {print} from "../base/print.sol";
import {vm} from "../base/Vm.sol";
import {Token} from "../mocks/Token.sol";

/// @dev What a thief with one key takes in a night, by taking at each moment all that the caps allow.
contract GeoVaultStolenKeysTest is Moves {
    uint256 private constant NIGHT = 12 hours;
    uint256 private constant STEP = 10 minutes;
    uint256 private constant NATIVE_PRICE = 3000;
    /// All in units of the settlement token. It is a half of it, three tenths native, two tenths of another token.
    uint256 private constant INVENTORY = 1_000_000e6;
    /// 12 hours' gas of a relayer at three times the price.
    uint96 private constant RELAYER_CAP = 0.2 ether;

    address private thief = _actor("thief");
    uint256 private bridgeFees;
    uint256 private swapKey;

    function setUp() public override {
        super.setUp();
        vm.prank(treasury);
        vault.withdraw(address(plain), treasury, 1e24 - INVENTORY / 2);
        vm.prank(treasury);
        vault.withdraw(address(other), treasury, 1e24 - INVENTORY / 5);
        vm.deal(address(vault), INVENTORY * 3 / 10 * 1e12 / NATIVE_PRICE);
        vm.assertEq(_value(), INVENTORY, "inventory");
        _cap(CapKind.Bridge, address(plain), address(route), uint96(INVENTORY / 4));
        _cap(CapKind.Send, NATIVE, relayer, RELAYER_CAP);
    }

    function test_aTreasurersKeyLosesAtMostTwoPercentInANight() public {
        _tradeCaps(1000);
        _isAtMostTwoPercent("Trade 10 % an hour and direction", _night(0));
    }

    /// @dev A feed is updated when the market has moved by its deviation threshold, here 0.5 %. A thief who trades only
    /// when the feed is off in its favour costs both, so that the caps must be half as large.
    function test_withCapsOfHalfThatTheDeviationOfTheFeedsIsIncluded() public {
        _tradeCaps(500);
        _isAtMostTwoPercent("Trade 5 % an hour and direction, feeds off by 0.5 % each time", _night(50));
    }

    function test_aTreasurersKeyReachesNobodyElse() public {
        bytes[4] memory calls = [
            abi.encodeCall(IGeoVault.send, ("move", address(plain), thief, 1)),
            abi.encodeCall(IGeoVault.send, ("move", NATIVE, thief, 1)),
            abi.encodeCall(IGeoVault.bridge, ("move", address(plain), thief, 1, FINAL)),
            abi.encodeCall(IGeoVault.bridge, ("move", NATIVE, thief, 1, FINAL))
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(CapExceeded.selector, 1, 0));
            vm.prank(treasurer);
            (bool ok,) = address(vault).call(calls[i]);
            ok;
        }
    }

    /// @dev Each token's cap immediately and again in each hour, by deliveries, purchases and top-ups together.
    function test_aRelayersKeyTakesEachTokensCapAtOnceAndEachHour() public {
        uint96[3] memory caps = [uint96(INVENTORY / 50), uint96(INVENTORY / 100), 1 ether];
        address[3] memory tokens = [address(plain), address(other), NATIVE];
        uint256[3] memory before;
        for (uint256 i = 0; i < tokens.length; ++i) {
            _cap(tokens[i], caps[i]);
            before[i] = _balance(tokens[i]);
        }
        // What is bought comes at the worst price, so that the vault loses all that is spent.
        router.set(1, 10_000, 0, 0);
        for (uint256 time = 0; time <= NIGHT; time += STEP) {
            vm.warp(NOW + time);
            _takeByFills();
            for (uint256 i = 0; i < tokens.length; ++i) {
                uint256 taken = before[i] - _balance(tokens[i]);
                uint256 allowed = caps[i] + uint256(caps[i]) * time / 1 hours;
                vm.assertLe(taken, allowed, "more than the cap at once and each hour");
                // Each step may round down once.
                vm.assertLe(allowed, taken + 100, "the thief could have taken more");
                vm.assertEq(_available(tokens[i]), 0, "the thief left something");
            }
        }
    }

    /// @dev Fills all that may leave. The settlement token leaves by a purchase and by a delivery, the native
    /// token by a delivery and by top-ups beside the others.
    function _takeByFills() private {
        uint256 share = _available(NATIVE) / 4;
        _steal(address(other), _available(address(plain)) / 2, share, 500);
        _steal(address(plain), _available(address(plain)), share, 0);
        _steal(address(other), _available(address(other)), share, 0);
        share = _available(NATIVE);
        _steal(NATIVE, share - share / 2, share / 2, 0);
    }

    function _steal(address token, uint256 amount, uint256 topUp, uint24 poolFee) private {
        Order memory order = _orderFromThere();
        (order.outputToken, order.recipient, order.topUp) = (word(token), word(thief), topUp);
        (order.minOutput, order.swapKey) = (1, bytes32(++swapKey));
        uint256 time = vm.getBlockTimestamp();
        order.deadlines = packDeadlines(time + 1, time + 2, time + 3);
        _fill(Fill({order: order, amount: amount, minOutput: 0, poolFee: poolFee, secondPoolFee: 0}));
    }

    /// @dev Caps of this share of the inventory in each direction. The volatile tokens have theirs together.
    function _tradeCaps(uint256 bps) private {
        uint256 cap = INVENTORY * bps / 10_000;
        _cap(CapKind.Trade, address(plain), NATIVE, uint96(cap));
        _cap(CapKind.Trade, NATIVE, NATIVE, uint96(cap * 6 / 10 * 1e12 / NATIVE_PRICE));
        _cap(CapKind.Trade, address(other), NATIVE, uint96(cap * 4 / 10));
    }

    /// @dev Trades back and forth at the floor, bridges with the maximum fee and sends to the relayer, whenever a cap
    /// allows. What is bridged comes back immediately, as if the vaults on other chains were robbed in the same night.
    /// Returns what was lost. What the relayer got is not lost, because its key is another one.
    function _night(uint256 deviationBps) private returns (uint256) {
        for (uint256 time = 0; time <= NIGHT; time += STEP) {
            vm.warp(NOW + time);
            _feedsOff(10_000 - deviationBps);
            _sell(NATIVE, address(plain), _available(CapKind.Trade, NATIVE, NATIVE));
            _sell(address(other), address(plain), _available(CapKind.Trade, address(other), NATIVE));
            _feedsOff(10_000 + deviationBps);
            uint256 budget = _available(CapKind.Trade, address(plain), NATIVE);
            _sell(address(plain), NATIVE, budget * 6 / 10);
            _sell(address(plain), address(other), budget - budget * 6 / 10);
            _bridgeAndBack(_available(CapKind.Bridge, address(plain), address(route)));
            _send(_nextMove(), NATIVE, relayer, _available(CapKind.Send, NATIVE, relayer));
        }
        vm.assertLe(relayer.balance, RELAYER_CAP * (1 + NIGHT / 1 hours), "sent to the relayer");
        return INVENTORY - _value() - relayer.balance * NATIVE_PRICE / 1e12;
    }

    /// @dev Sells to a pool of the thief's own, which pays the floor and not one unit more.
    function _sell(address tokenIn, address tokenOut, uint256 amount) private {
        uint256 held = _balance(tokenIn);
        if (amount > held) amount = held;
        if (amount == 0) return;
        router.setExactOut(vault.tradeFloor(tokenIn, tokenOut, amount));
        _trade(tokenIn, tokenOut, amount);
    }

    function _bridgeAndBack(uint256 amount) private {
        uint256 held = plain.balanceOf(address(vault));
        if (amount > held) amount = held;
        uint256 maxFee = amount * ROUTE_FEE_BPS / 10_000;
        _bridge(_nextMove(), address(plain), address(route), amount, abi.encode(maxFee, 1000));
        bridgeFees += maxFee;
        plain.mint(address(vault), amount - maxFee);
    }

    function _feedsOff(uint256 bps) private {
        otherFeed.setAnswer(int256(1e8 * bps / 10_000));
        nativeFeed.setAnswer(int256(NATIVE_PRICE * 1e8 * bps / 10_000));
    }

    function _isAtMostTwoPercent(string memory what, uint256 loss) private view {
        print(
            string.concat(
                what,
                ": a night of 12 hours loses ",
                vm.toString(loss * 1e6 / INVENTORY),
                " millionths of the inventory, ",
                vm.toString(bridgeFees * 1e6 / INVENTORY),
                " of them as fees of bridges; the relayer is sent ",
                vm.toString(relayer.balance * NATIVE_PRICE / 1e12 * 1e6 / INVENTORY)
            )
        );
        vm.assertLe(loss, INVENTORY * 2 / 100, "more than 2 % of the inventory");
    }

    /// @dev The vault's inventory at the market's prices, in units of the settlement token.
    function _value() private view returns (uint256) {
        return plain.balanceOf(address(vault)) + other.balanceOf(address(vault)) + address(vault).balance * NATIVE_PRICE
            / 1e12;
    }

    function _balance(address token) private view returns (uint256) {
        return token == NATIVE ? address(vault).balance : Token(token).balanceOf(address(vault));
    }
}
