// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Cap} from "./Cap.sol";
import {MIN_PAYMENT_GAS, tryPayNative} from "./NativePayment.sol";
import {Order, toAddress, toWord} from "./Order.sol";
import {IGeoEscrow} from "./interfaces/IGeoEscrow.sol";
import {IAggregatorV3} from "./interfaces/IAggregatorV3.sol";
import {IGeoRoute} from "./interfaces/IGeoRoute.sol";
import {CapKind, Feed, Fill, IGeoVault, VaultState} from "./interfaces/IGeoVault.sol";
import {ISwapRouter} from "./interfaces/ISwapRouter.sol";
import {IWrappedNative} from "./interfaces/IWrappedNative.sol";

/// @title GeoVault
/// @notice The service's inventory on one chain, and the record of which orders it filled or voided.
/// @dev Roles are the AccessManager's. Escrow, router and tokens of the path are fixed at deployment, so that no key
/// can point the vault at others. A vault that needs others is a new vault; this one keeps its roles, since releases of
/// the orders that name it still arrive here.
contract GeoVault is IGeoVault, AccessManaged, Pausable, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice No trade may be allowed to lose more than this against the feeds.
    uint256 public constant MAX_SLIPPAGE_BPS = 300;

    uint256 private constant BPS = 10_000;
    /// @dev After an outage of the sequencer feeds may still have to catch up.
    uint256 private constant SEQUENCER_GRACE = 1 hours;

    /// @notice The escrow of this chain, which holds same-chain orders and the vault's credits.
    IGeoEscrow public immutable ESCROW;
    /// @notice The only contract that inventory is swapped through.
    ISwapRouter public immutable ROUTER;
    /// @notice What every delivery through the router starts from, and one side of every trade.
    address public immutable SETTLEMENT_TOKEN;
    /// @notice The only token that a path may pass through, and what is unwrapped to deliver the native token.
    address public immutable WRAPPED_NATIVE;
    /// @notice Chainlink's sequencer uptime feed, or zero on a chain without a sequencer.
    IAggregatorV3 public immutable SEQUENCER_FEED;

    /// @inheritdoc IGeoVault
    mapping(bytes32 orderId => VaultState) public orderState;

    /// @inheritdoc IGeoVault
    mapping(bytes32 moveId => bool) public isMoved;

    mapping(bytes32 key => Cap) private _caps;

    mapping(address token => Feed) private _feeds;

    /// @param authority The AccessManager.
    /// @param escrow The escrow of this chain.
    /// @param router Uniswap's SwapRouter02 on this chain.
    /// @param settlementToken The chain's settlement stable.
    /// @param wrappedNative The chain's WETH9.
    /// @param sequencerFeed Chainlink's sequencer uptime feed, or zero on a chain without a sequencer.
    constructor(
        address authority,
        IGeoEscrow escrow,
        ISwapRouter router,
        address settlementToken,
        address wrappedNative,
        IAggregatorV3 sequencerFeed
    ) AccessManaged(authority) {
        ESCROW = escrow;
        ROUTER = router;
        SETTLEMENT_TOKEN = settlementToken;
        WRAPPED_NATIVE = wrappedNative;
        SEQUENCER_FEED = sequencerFeed;
    }

    /// @notice Takes the native token from releases, deposits and unwrapping.
    receive() external payable {}

    /// @inheritdoc IGeoVault
    function fill(Fill calldata item) external restricted whenNotPaused nonReentrant {
        _fill(item);
    }

    /// @inheritdoc IGeoVault
    function fillMany(Fill[] calldata items) external restricted whenNotPaused nonReentrant {
        for (uint256 i = 0; i < items.length; ++i) {
            // A call to ourselves, so that an item that fails leaves nothing behind.
            try this.fillOne(items[i]) {}
            catch {
                emit Skipped(items[i].order.orderId(), _revertSelector());
            }
        }
    }

    /// @notice One item of `fillMany`. Only the vault itself can call this.
    function fillOne(Fill calldata item) external {
        if (msg.sender != address(this)) revert OnlySelf();
        _fill(item);
    }

    /// @inheritdoc IGeoVault
    function void(Order calldata order) external restricted {
        bytes32 orderId = _ownOrder(order);
        if (orderState[orderId] != VaultState.None) revert AlreadyDecided(orderId);
        _void(orderId);
    }

    /// @inheritdoc IGeoVault
    function voidMany(Order[] calldata orders) external restricted {
        for (uint256 i = 0; i < orders.length; ++i) {
            bytes32 orderId = orders[i].orderId();
            if (!_isOwn(orders[i])) emit Skipped(orderId, WrongVault.selector);
            else if (orderState[orderId] != VaultState.None) emit Skipped(orderId, AlreadyDecided.selector);
            else _void(orderId);
        }
    }

    /// @inheritdoc IGeoVault
    function trade(
        bytes32 moveId,
        address tokenIn,
        address tokenOut,
        uint256 amountIn,
        uint256 minOut,
        uint24 poolFee,
        uint24 secondPoolFee,
        uint256 deadline
    ) external restricted whenNotPaused nonReentrant returns (uint256 amountOut) {
        if (block.timestamp > deadline) revert TradeExpired(deadline);
        _moveOnce(moveId, amountIn);
        // By the feeds a stolen key cannot give inventory away. By the caller's own minimum an honest trade cannot be
        // pushed down to what the feeds allow.
        uint256 minimum = Math.max(minOut, tradeFloor(tokenIn, tokenOut, amountIn));
        _cap(CapKind.Trade, tokenIn, address(0)).spend(amountIn);
        (address from, address to) = (_erc20(tokenIn), _erc20(tokenOut));
        if (tokenIn == address(0)) IWrappedNative(WRAPPED_NATIVE).deposit{value: amountIn}();
        uint256 before = IERC20(to).balanceOf(address(this));
        _swap(from, to, address(this), amountIn, minimum, poolFee, secondPoolFee);
        // Balances show what has arrived. A token or the router may report anything.
        amountOut = IERC20(to).balanceOf(address(this)) - before;
        if (amountOut < minimum) revert TooLittleReceived(amountOut, minimum);
        if (tokenOut == address(0)) IWrappedNative(WRAPPED_NATIVE).withdraw(amountOut);
        emit Traded(moveId, tokenIn, tokenOut, amountIn, amountOut, minimum);
    }

    /// @inheritdoc IGeoVault
    function send(bytes32 moveId, address token, address to, uint256 amount)
        external
        restricted
        whenNotPaused
        nonReentrant
    {
        _moveOnce(moveId, amount);
        _cap(CapKind.Send, token, to).spend(amount);
        emit Sent(moveId, token, to, amount);
        _pay(token, to, amount);
    }

    /// @inheritdoc IGeoVault
    function bridge(bytes32 moveId, address token, address route, uint256 amount, bytes calldata data)
        external
        restricted
        whenNotPaused
        nonReentrant
    {
        _moveOnce(moveId, amount);
        _cap(CapKind.Bridge, token, route).spend(amount);
        emit Bridged(moveId, token, route, amount, data);
        _pay(token, route, amount);
        IGeoRoute(route).forward(token, amount, data);
    }

    /// @inheritdoc IGeoVault
    function pause() external restricted {
        _pause();
    }

    /// @inheritdoc IGeoVault
    function unpause() external restricted {
        _unpause();
    }

    /// @inheritdoc IGeoVault
    function setCap(CapKind kind, address token, address to, uint96 perHour) external restricted {
        // A cap that no call reads would look like a limit.
        if ((kind == CapKind.Fill || kind == CapKind.Trade) && to != address(0)) revert WrongPair(token, to);
        _cap(kind, token, to).set(perHour);
        emit CapSet(kind, token, to, perHour);
    }

    /// @inheritdoc IGeoVault
    function setFeed(address token, address feed, uint32 maxAge, uint16 slippageBps) external restricted {
        Feed memory set;
        if (feed != address(0)) {
            uint8 feedDecimals = IAggregatorV3(feed).decimals();
            uint8 tokenDecimals = token == address(0) ? 18 : IERC20Metadata(token).decimals();
            if (slippageBps > MAX_SLIPPAGE_BPS || feedDecimals > 18 || tokenDecimals > 18) revert InvalidFeed();
            set = Feed(feed, maxAge, feedDecimals, tokenDecimals, slippageBps);
        }
        _feeds[token] = set;
        emit FeedSet(token, set);
    }

    /// @inheritdoc IGeoVault
    function withdraw(address token, address to, uint256 amount) external restricted nonReentrant {
        emit Withdrawn(token, to, amount);
        _pay(token, to, amount);
    }

    /// @inheritdoc IGeoVault
    function claimCredit(address token, address to) external restricted {
        ESCROW.claimTo(token, to);
    }

    /// @inheritdoc IGeoVault
    function capOf(CapKind kind, address token, address to) external view returns (uint256 perHour, uint256 available) {
        Cap memory cap = _cap(kind, token, to);
        return (cap.perHour, cap.available());
    }

    /// @inheritdoc IGeoVault
    function feedOf(address token) external view returns (Feed memory) {
        return _feeds[token];
    }

    /// @inheritdoc IGeoVault
    function tradeFloor(address tokenIn, address tokenOut, uint256 amountIn) public view returns (uint256) {
        // With the settlement token on one side there is one volatile price in a trade, and one path to check.
        if ((tokenIn == SETTLEMENT_TOKEN) == (tokenOut == SETTLEMENT_TOKEN)) revert WrongPair(tokenIn, tokenOut);
        _checkSequencer();
        Feed memory sold = _feeds[tokenIn];
        Feed memory bought = _feeds[tokenOut];
        uint256 fair = Math.mulDiv(
            amountIn * _price(tokenIn, sold),
            10 ** (uint256(bought.feedDecimals) + bought.tokenDecimals),
            _price(tokenOut, bought) * 10 ** (uint256(sold.feedDecimals) + sold.tokenDecimals)
        );
        uint256 slippageBps = tokenIn == SETTLEMENT_TOKEN ? bought.slippageBps : sold.slippageBps;
        return Math.max(1, Math.mulDiv(fair, BPS - slippageBps, BPS));
    }

    function _fill(Fill calldata item) private {
        Order calldata order = item.order;
        bytes32 orderId = _ownOrder(order);
        if (orderState[orderId] != VaultState.None) revert AlreadyDecided(orderId);
        if (block.timestamp >= order.deadlines.fillDeadline()) revert FillExpired(order.deadlines.fillDeadline());
        if (item.amount == 0) revert ZeroAmount();
        orderState[orderId] = VaultState.Filled;

        if (order.originChainId == block.chainid) {
            if (order.escrow != toWord(address(ESCROW)) || order.originVault != toWord(address(this))) {
                revert WrongOrigin(order.escrow, order.originVault);
            }
            // Reverts unless the order is open, because on one chain delivery and release are one.
            ESCROW.releaseFilled(order);
        }

        address token = toAddress(order.outputToken);
        address spentToken = item.poolFee == 0 ? token : SETTLEMENT_TOKEN;
        address recipient = toAddress(order.recipient);
        _cap(CapKind.Fill, spentToken, address(0)).spend(item.amount);
        uint256 delivered =
            token == address(0) ? _deliverNative(item, recipient) : _deliverToken(item, token, recipient);
        // At least one unit, even if an order that was never opened here has zero.
        uint256 minimum = Math.max(1, Math.max(order.minOutput, item.minOutput));
        if (delivered < minimum) revert TooLittleDelivered(delivered, minimum);
        emit Filled(orderId, delivered, spentToken, item.amount);
        if (order.topUp != 0) _topUp(orderId, recipient, order.topUp);
    }

    /// @dev A recipient that refuses the native token goes without. Otherwise it could make the fill fail, and with it
    /// choose to be refunded when the price has moved.
    function _topUp(bytes32 orderId, address recipient, uint256 amount) private {
        _cap(CapKind.Fill, address(0), address(0)).spend(amount);
        if (address(this).balance < amount) revert NoNative(address(this).balance, amount);
        if (gasleft() < MIN_PAYMENT_GAS) revert InsufficientGas();
        emit ToppedUp(orderId, amount, tryPayNative(recipient, amount));
    }

    /// @dev The recipient's balance counts, not a return value of the token or the router.
    function _deliverToken(Fill calldata item, address token, address recipient) private returns (uint256) {
        uint256 before = IERC20(token).balanceOf(recipient);
        if (item.poolFee == 0) IERC20(token).safeTransfer(recipient, item.amount);
        else _buy(item, token, recipient);
        return IERC20(token).balanceOf(recipient) - before;
    }

    function _deliverNative(Fill calldata item, address recipient) private returns (uint256 amount) {
        amount = item.amount;
        if (item.poolFee != 0) {
            amount = _buy(item, WRAPPED_NATIVE, address(this));
            IWrappedNative(WRAPPED_NATIVE).withdraw(amount);
        }
        _sendNative(recipient, amount);
    }

    /// @dev Buys the output of a fill. Only what has a cap on fills can be bought.
    function _buy(Fill calldata item, address token, address to) private returns (uint256) {
        address output = toAddress(item.order.outputToken);
        if (_cap(CapKind.Fill, output, address(0)).perHour == 0) revert NotListed(output);
        return _swap(SETTLEMENT_TOKEN, token, to, item.amount, item.minOutput, item.poolFee, item.secondPoolFee);
    }

    /// @dev The path is built here, of tokens that were listed by a cap or a feed. A call can choose among their pools.
    function _swap(
        address from,
        address to,
        address recipient,
        uint256 amountIn,
        uint256 minimum,
        uint24 poolFee,
        uint24 secondPoolFee
    ) private returns (uint256 amountOut) {
        bool isDirect = secondPoolFee == 0;
        uint256 stranded = isDirect ? 0 : IERC20(WRAPPED_NATIVE).balanceOf(address(ROUTER));
        IERC20(from).forceApprove(address(ROUTER), amountIn);
        amountOut = ROUTER.exactInput(
            ISwapRouter.ExactInputParams({
                path: isDirect
                    ? abi.encodePacked(from, poolFee, to)
                    : abi.encodePacked(from, poolFee, WRAPPED_NATIVE, secondPoolFee, to),
                recipient: recipient,
                amountIn: amountIn,
                amountOutMinimum: minimum
            })
        );
        // A pool that runs dry takes less than it is offered. The first pool leaves the rest to the vault, the second
        // to any caller that sweeps the router.
        uint256 left = IERC20(from).allowance(address(this), address(ROUTER));
        if (!isDirect) left += IERC20(WRAPPED_NATIVE).balanceOf(address(ROUTER)) - stranded;
        if (left != 0) revert BudgetNotSpent(left);
    }

    /// @dev A move with a known id reverts, so that the chain itself prevents a second one.
    function _moveOnce(bytes32 moveId, uint256 amount) private {
        if (amount == 0) revert ZeroAmount();
        if (isMoved[moveId]) revert AlreadyMoved(moveId);
        isMoved[moveId] = true;
    }

    function _void(bytes32 orderId) private {
        orderState[orderId] = VaultState.Voided;
        emit Voided(orderId);
    }

    function _pay(address token, address to, uint256 amount) private {
        if (token == address(0)) _sendNative(to, amount);
        else IERC20(token).safeTransfer(to, amount);
    }

    function _sendNative(address to, uint256 amount) private {
        if (gasleft() < MIN_PAYMENT_GAS) revert InsufficientGas();
        if (!tryPayNative(to, amount)) revert NativeTransferFailed(to);
    }

    function _cap(CapKind kind, address token, address to) private view returns (Cap storage) {
        return _caps[keccak256(abi.encode(kind, token, to))];
    }

    function _erc20(address token) private view returns (address) {
        return token == address(0) ? WRAPPED_NATIVE : token;
    }

    function _price(address token, Feed memory feed) private view returns (uint256) {
        if (feed.feed == address(0)) revert NoPrice(token);
        (, int256 answer,, uint256 updatedAt,) = IAggregatorV3(feed.feed).latestRoundData();
        if (answer <= 0 || answer > type(int128).max || block.timestamp > updatedAt + feed.maxAge) {
            revert NoPrice(token);
        }
        // The answer is positive.
        // forge-lint: disable-next-line(unsafe-typecast)
        return uint256(answer);
    }

    function _checkSequencer() private view {
        if (address(SEQUENCER_FEED) == address(0)) return;
        (, int256 down, uint256 startedAt,,) = SEQUENCER_FEED.latestRoundData();
        // A round that has not started shows nothing about the sequencer.
        if (down != 0 || startedAt == 0 || block.timestamp <= startedAt + SEQUENCER_GRACE) revert SequencerDown();
    }

    /// @dev An order of another chain or vault must not even be marked here.
    function _ownOrder(Order calldata order) private view returns (bytes32) {
        if (!_isOwn(order)) revert WrongVault(order.destinationChainId, order.destinationVault);
        return order.orderId();
    }

    function _isOwn(Order calldata order) private view returns (bool) {
        return order.destinationChainId == block.chainid && order.destinationVault == toWord(address(this));
    }

    function _revertSelector() private pure returns (bytes4 selector) {
        assembly ("memory-safe") {
            // Only four bytes of the return data, because the rest could be made expensive.
            if gt(returndatasize(), 3) {
                returndatacopy(0, 0, 4)
                selector := mload(0)
            }
        }
    }
}
