// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CapKind, Feed, IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {Moves} from "../base/Moves.sol";
import {vm} from "../base/Vm.sol";
import {PriceFeed} from "../mocks/PriceFeed.sol";

contract GeoVaultFeedsTest is Moves {
    uint256 private constant AMOUNT = 1000e6;

    function test_aFeedIsStoredWithTheDecimalsThatItAndItsTokenHave() public {
        PriceFeed feed = new PriceFeed(18, 1e18);
        Feed memory expected = Feed(address(feed), 60, 18, 6, 300);
        vm.expectEmit(address(vault));
        emit IGeoVault.FeedSet(address(other), expected);
        _feed(address(other), address(feed), 60, 300);
        _isFeed(address(other), expected);
        expected.tokenDecimals = 18;
        _feed(NATIVE, address(feed), 60, 300);
        _isFeed(NATIVE, expected);
    }

    function test_aFeedThatChangesItsDecimalsLaterIsReadWithThoseItHad() public {
        uint256 floor = vault.tradeFloor(address(other), address(plain), AMOUNT);
        otherFeed.setDecimals(18);
        other.setDecimals(18);
        vm.assertEq(vault.tradeFloor(address(other), address(plain), AMOUNT), floor, "floor");
    }

    function test_theFloorIsTheSameByFeedsOfAnyDecimals() public {
        uint256 floor = vault.tradeFloor(address(other), address(plain), AMOUNT);
        vm.assertEq(floor, 995e6, "floor");
        for (uint8 decimals = 0; decimals <= 18; ++decimals) {
            _feed(address(other), new PriceFeed(decimals, int256(10 ** uint256(decimals))));
            vm.assertEq(vault.tradeFloor(address(other), address(plain), AMOUNT), floor, "of a sale");
            vm.assertEq(vault.tradeFloor(address(plain), address(other), AMOUNT), floor, "of a refill");
        }
    }

    function test_theFloorFollowsBothFeeds() public {
        otherFeed.setAnswer(2e8);
        vm.assertEq(vault.tradeFloor(address(other), address(plain), AMOUNT), 1990e6, "of a sale");
        vm.assertEq(vault.tradeFloor(address(plain), address(other), AMOUNT), 497.5e6, "of a refill");
        stableFeed.setAnswer(0.5e8);
        vm.assertEq(vault.tradeFloor(address(other), address(plain), AMOUNT), 3980e6, "of a sale");
        vm.assertEq(vault.tradeFloor(address(plain), address(other), AMOUNT), 248.75e6, "of a refill");
    }

    function test_theSlippageIsThatOfTheTokenThatIsNotTheSettlementToken() public {
        _feed(address(plain), address(stableFeed), MAX_AGE, 300);
        _feed(address(other), address(otherFeed), MAX_AGE, 0);
        vm.assertEq(vault.tradeFloor(address(other), address(plain), AMOUNT), AMOUNT, "of a sale");
        vm.assertEq(vault.tradeFloor(address(plain), address(other), AMOUNT), AMOUNT, "of a refill");
    }

    function test_aFeedAllowsAtMostTheMaximumSlippage() public {
        vm.assertEq(vault.MAX_SLIPPAGE_BPS(), 300, "maximum");
        _feed(address(other), address(otherFeed), MAX_AGE, 300);
        vm.expectRevert(IGeoVault.InvalidFeed.selector);
        _feed(address(other), address(otherFeed), MAX_AGE, 301);
    }

    function test_moreThanEighteenDecimalsAreRefused() public {
        otherFeed.setDecimals(19);
        vm.expectRevert(IGeoVault.InvalidFeed.selector);
        _feed(address(other), otherFeed);
        otherFeed.setDecimals(18);
        other.setDecimals(19);
        vm.expectRevert(IGeoVault.InvalidFeed.selector);
        _feed(address(other), otherFeed);
        other.setDecimals(18);
        _feed(address(other), otherFeed);
    }

    function test_anAddressWithoutDecimalsIsNoFeedAndNoToken() public {
        vm.expectRevert();
        _feed(address(other), stranger, MAX_AGE, 0);
        vm.expectRevert();
        _feed(stranger, address(otherFeed), MAX_AGE, 0);
    }

    function test_aZeroFeedEndsTheTradesOfItsToken() public {
        Feed memory none;
        vm.expectEmit(address(vault));
        emit IGeoVault.FeedSet(address(other), none);
        // What comes with it is not kept.
        _feed(address(other), NATIVE, MAX_AGE, 1000);
        _isFeed(address(other), none);
        _noPrice(address(other));
    }

    function test_aTokenWithoutAFeedIsNotTraded() public {
        _cap(CapKind.Trade, address(fee), NATIVE, MOVE_CAP);
        bytes memory reason = abi.encodeWithSelector(IGeoVault.NoPrice.selector, address(fee));
        _tradeReverts(address(fee), address(plain), AMOUNT, reason);
        _tradeReverts(address(plain), address(fee), AMOUNT, reason);
        _feed(address(plain), NATIVE, 0, 0);
        _tradeReverts(
            address(other), address(plain), AMOUNT, abi.encodeWithSelector(IGeoVault.NoPrice.selector, address(plain))
        );
    }

    function test_anAnswerIsUsedUpToItsMaximumAge() public {
        otherFeed.setUpdatedAt(NOW);
        vm.warp(NOW + MAX_AGE);
        _trade(address(other), address(plain), AMOUNT);
        vm.warp(NOW + MAX_AGE + 1);
        _noPrice(address(other));
        otherFeed.setUpdatedAt(NOW + 1);
        _trade(address(plain), address(other), AMOUNT);
    }

    function test_theSettlementTokensPriceMustBeFreshToo() public {
        stableFeed.setUpdatedAt(NOW);
        vm.warp(NOW + MAX_AGE + 1);
        bytes memory reason = abi.encodeWithSelector(IGeoVault.NoPrice.selector, address(plain));
        _tradeReverts(address(other), address(plain), AMOUNT, reason);
        _tradeReverts(address(plain), address(other), AMOUNT, reason);
    }

    function test_anAnswerThatIsNoPriceStopsTrades() public {
        int256[5] memory answers = [int256(0), -1, type(int256).min, int256(type(int128).max) + 1, type(int256).max];
        for (uint256 i = 0; i < answers.length; ++i) {
            otherFeed.setAnswer(answers[i]);
            _noPrice(address(other));
        }
    }

    function test_theGreatestPriceIsStillReckonedWith() public {
        otherFeed.setAnswer(type(int128).max);
        uint256 price = uint256(uint128(type(int128).max));
        vm.assertEq(vault.tradeFloor(address(other), address(plain), 1e6), price / 100 * 9950 / 10_000, "of a sale");
        vm.assertEq(vault.tradeFloor(address(plain), address(other), 1e6), 1, "of a refill");
    }

    function test_aFeedThatFailsStopsItsOwnTokensTradesAlone() public {
        router.setExactOut(2990e6);
        for (uint8 failure = 1; failure < 4; ++failure) {
            otherFeed.setFailure(PriceFeed.Failure(failure));
            bytes32 moveId = _nextMove();
            vm.prank(treasurer);
            // Not all the gas of the test, which one of the failures would burn.
            (bool ok,) = address(vault).call{gas: 1_000_000}(
                abi.encodeCall(IGeoVault.trade, (moveId, address(other), address(plain), AMOUNT, 0, POOL_FEE, 0, NOW))
            );
            vm.assertTrue(!ok && !vault.isMoved(moveId), "traded without a price");
            _trade(NATIVE, address(plain), 1 ether);
        }
    }

    function test_anAnswerDatedBeyondAllTimeIsNotUsed() public {
        otherFeed.setUpdatedAt(type(uint256).max);
        vm.expectRevert();
        _trade("sale", address(other), address(plain), AMOUNT, 0);
        vm.assertTrue(!vault.isMoved("sale"), "noted");
    }

    function test_noTradeIsMadeWhileTheSequencerIsDown() public {
        PriceFeed sequencer = _withSequencer();
        sequencer.setAnswer(1);
        sequencer.setStartedAt(NOW - 1 days);
        _sequencerDown();
        sequencer.setAnswer(0);
        _trade(address(other), address(plain), AMOUNT);
    }

    function test_noTradeIsMadeInTheFirstHourOfTheSequencer() public {
        PriceFeed sequencer = _withSequencer();
        sequencer.setStartedAt(NOW);
        _sequencerDown();
        vm.warp(NOW + 1 hours);
        _sequencerDown();
        vm.warp(NOW + 1 hours + 1);
        _trade(address(other), address(plain), AMOUNT);
    }

    function test_noTradeIsMadeInARoundOfTheSequencerThatHasNotStarted() public {
        PriceFeed sequencer = _withSequencer();
        sequencer.setStartedAt(0);
        _sequencerDown();
        sequencer.setStartedAt(NOW + 1);
        _sequencerDown();
        sequencer.setStartedAt(type(uint256).max);
        vm.expectRevert();
        _trade("sale", address(other), address(plain), AMOUNT, 0);
    }

    function test_aSequencerFeedThatFailsStopsTradesAndNothingElse() public {
        PriceFeed sequencer = _withSequencer();
        sequencer.setFailure(PriceFeed.Failure.Reverts);
        _tradeReverts(address(other), address(plain), AMOUNT, abi.encodeWithSelector(PriceFeed.NoData.selector));
        _send("send", address(other), relayer, 1);
        _fill(_inventoryFill(_orderFromThere()));
    }

    /// @dev Puts a vault that reads a sequencer's feed in the place of the one that reads none.
    function _withSequencer() private returns (PriceFeed sequencer) {
        sequencer = new PriceFeed(0, 0);
        sequencer.setStartedAt(NOW - 1 hours - 1);
        vault = _deployVault(manager, escrow, address(router), address(plain), address(wrapped), address(sequencer));
        vm.assertEq(vault.SEQUENCER_FEED(), address(sequencer), "sequencer feed");
        _wireRoles(manager, vault);
        _feed(address(plain), stableFeed);
        _feed(address(other), otherFeed);
        address[2] memory tokens = [address(plain), address(other)];
        for (uint256 i = 0; i < tokens.length; ++i) {
            _cap(tokens[i], MOVE_CAP);
            _cap(CapKind.Trade, tokens[i], NATIVE, MOVE_CAP);
            _cap(CapKind.Send, tokens[i], relayer, MOVE_CAP);
        }
        plain.mint(address(vault), 1e24);
        other.mint(address(vault), 1e24);
        _trade(address(other), address(plain), AMOUNT);
    }

    function _sequencerDown() private {
        bytes memory reason = abi.encodeWithSelector(IGeoVault.SequencerDown.selector);
        _tradeReverts(address(other), address(plain), AMOUNT, reason);
        _tradeReverts(address(plain), address(other), AMOUNT, reason);
        vm.expectRevert(reason);
        vault.tradeFloor(address(other), address(plain), AMOUNT);
    }

    function _noPrice(address token) private {
        bytes memory reason = abi.encodeWithSelector(IGeoVault.NoPrice.selector, token);
        _tradeReverts(token, address(plain), AMOUNT, reason);
        _tradeReverts(address(plain), token, AMOUNT, reason);
        vm.expectRevert(reason);
        vault.tradeFloor(token, address(plain), AMOUNT);
    }

    function _isFeed(address token, Feed memory expected) private view {
        vm.assertEq(keccak256(abi.encode(vault.feedOf(token))), keccak256(abi.encode(expected)), "feed");
    }
}
