// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order} from "../Order.sol";

/// @notice The state of an order in a vault.
enum VaultState {
    None,
    Filled,
    Voided
}

/// @notice What a cap limits.
enum CapKind {
    /// What fills take of a token.
    Fill,
    /// What is traded away of a token.
    Trade,
    /// What is sent of a token to one address.
    Send,
    /// What is handed of a token to one route.
    Bridge
}

/// @notice A token's price feed, and how far below the feeds' price a trade of the token may be. One slot.
struct Feed {
    address feed;
    /// The age in seconds up to which an answer is used.
    uint32 maxAge;
    uint8 feedDecimals;
    uint8 tokenDecimals;
    uint16 slippageBps;
}

/// @notice How to deliver an order's output.
struct Fill {
    Order order;
    /// From inventory, the amount that is sent to the recipient. Through the router, the amount of the settlement token
    /// that is spent.
    uint256 amount;
    /// The minimum that must arrive, where a fresh price gives more than the order's own minimum.
    uint256 minOutput;
    /// Fee tier of the pool from the settlement token. Zero delivers from inventory.
    uint24 poolFee;
    /// Fee tier of a second pool, from the wrapped native token to the output. Zero is one hop.
    uint24 secondPoolFee;
}

/// @title IGeoVault
/// @notice The service's inventory on one chain. Each order is filled once or voided once, never both.
interface IGeoVault {
    /// @notice An order's output was delivered.
    event Filled(bytes32 indexed orderId, uint256 delivered, address spentToken, uint256 spent);
    /// @notice An order was closed permanently without a fill.
    event Voided(bytes32 indexed orderId);
    /// @notice A batch passed over an order that it could not fill or void. `reason` is the error's selector.
    event Skipped(bytes32 indexed orderId, bytes4 reason);
    /// @notice The recipient of a fill was sent the native token beside the output. `paid` is false if it refused it.
    event ToppedUp(bytes32 indexed orderId, uint256 amount, bool paid);
    /// @notice Inventory was traded. `minimum` is what had to be received.
    event Traded(
        bytes32 indexed moveId,
        address indexed tokenIn,
        address indexed tokenOut,
        uint256 amountIn,
        uint256 amountOut,
        uint256 minimum
    );
    /// @notice Inventory was sent to a listed address.
    event Sent(bytes32 indexed moveId, address indexed token, address indexed to, uint256 amount);
    /// @notice Inventory was handed to a listed route.
    event Bridged(bytes32 indexed moveId, address indexed token, address indexed route, uint256 amount, bytes data);
    /// @notice A cap was set.
    event CapSet(CapKind indexed kind, address indexed token, address indexed to, uint256 perHour);
    /// @notice A token's feed was set.
    event FeedSet(address indexed token, Feed feed);
    /// @notice Inventory was withdrawn.
    event Withdrawn(address indexed token, address indexed to, uint256 amount);

    /// @notice The order is to be filled on another chain or by another vault.
    error WrongVault(uint256 destinationChainId, bytes32 destinationVault);
    /// @notice A same-chain order whose input is not held by this vault's escrow, or would not come to this vault.
    error WrongOrigin(bytes32 escrow, bytes32 originVault);
    /// @notice A fill or a move of nothing.
    error ZeroAmount();
    /// @notice The router delivers only tokens that have a cap on fills.
    error NotListed(address token);
    /// @notice The order was filled or voided before.
    error AlreadyDecided(bytes32 orderId);
    /// @notice The order's fill deadline has come.
    error FillExpired(uint256 fillDeadline);
    /// @notice The recipient got less than the order's minimum, or the fill's.
    error TooLittleDelivered(uint256 delivered, uint256 minimum);
    /// @notice The pools did not take the whole budget.
    error BudgetNotSpent(uint256 left);
    /// @notice The recipient could not be paid in the native token.
    error NativeTransferFailed(address to);
    /// @notice The vault has less of the native token than the order's top-up.
    error NoNative(uint256 balance, uint256 topUp);
    /// @notice The vault received less than the feeds' price allows, or than the caller demanded.
    error TooLittleReceived(uint256 received, uint256 minimum);
    /// @notice The move was made before.
    error AlreadyMoved(bytes32 moveId);
    /// @notice A trade has the settlement token on exactly one side; a cap on fills or trades has no address.
    error WrongPair(address token, address other);
    /// @notice The token has no feed, or its feed no fresh and positive answer.
    error NoPrice(address token);
    /// @notice The chain's sequencer is down, or has been up for less than an hour.
    error SequencerDown();
    /// @notice The deadline of a trade has passed.
    error TradeExpired(uint256 deadline);
    /// @notice The feed allows too much slippage, or it or its token has too many decimals.
    error InvalidFeed();
    /// @notice The call has too little gas to make a payment that can be trusted to have failed by itself.
    error InsufficientGas();
    /// @notice Only the vault itself calls this, one item of a batch at a time.
    error OnlySelf();

    /// @notice Delivers an order's output. Operator.
    function fill(Fill calldata item) external;

    /// @notice Delivers many; passes over those that fail. Operator.
    function fillMany(Fill[] calldata items) external;

    /// @notice Closes an unfilled order permanently. Operator; never paused.
    function void(Order calldata order) external;

    /// @notice Closes many; passes over those already decided and those of other vaults. Operator; never paused.
    function voidMany(Order[] calldata orders) external;

    /// @notice Trades inventory through the router, with the settlement token on one side. Treasurer.
    /// @param moveId The move's id. Each is made once.
    /// @param minOut The caller's own minimum, where it is above the minimum by the feeds.
    /// @param poolFee Fee tier of the first pool.
    /// @param secondPoolFee Fee tier of a second pool, which the wrapped native token leads to. Zero is one hop.
    /// @param deadline The last second in which the trade may be made.
    /// @return amountOut What was received.
    function trade(
        bytes32 moveId,
        address tokenIn,
        address tokenOut,
        uint256 amountIn,
        uint256 minOut,
        uint24 poolFee,
        uint24 secondPoolFee,
        uint256 deadline
    ) external returns (uint256 amountOut);

    /// @notice Sends inventory to an address that has a cap. Treasurer.
    function send(bytes32 moveId, address token, address to, uint256 amount) external;

    /// @notice Hands inventory to a route that has a cap. Treasurer.
    function bridge(bytes32 moveId, address token, address route, uint256 amount, bytes calldata data) external;

    /// @notice Stops fills and moves. Guardian.
    function pause() external;

    /// @notice Resumes fills and moves. Resume.
    function unpause() external;

    /// @notice Sets how much of a token may leave in one way. The whole cap may leave immediately, and refills
    /// within an hour. A token without a cap does not leave. Config.
    /// @param to The address or route of a cap on sends or bridges; zero for fills and trades.
    function setCap(CapKind kind, address token, address to, uint96 perHour) external;

    /// @notice Sets the feed that a token's trades are compared with. The zero feed ends its trades. Config.
    function setFeed(address token, address feed, uint32 maxAge, uint16 slippageBps) external;

    /// @notice Takes inventory out. Treasury.
    function withdraw(address token, address to, uint256 amount) external;

    /// @notice Claims the vault's credit in its escrow to another address. Treasury.
    function claimCredit(address token, address to) external;

    /// @notice The state of an order in this vault.
    function orderState(bytes32 orderId) external view returns (VaultState);

    /// @notice Whether a move was made.
    function isMoved(bytes32 moveId) external view returns (bool);

    /// @notice The cap, which refills within an hour, and the amount that may leave right now.
    function capOf(CapKind kind, address token, address to) external view returns (uint256 perHour, uint256 available);

    /// @notice The feed of a token.
    function feedOf(address token) external view returns (Feed memory);

    /// @notice The minimum that a trade must return by the feeds right now.
    function tradeFloor(address tokenIn, address tokenOut, uint256 amountIn) external view returns (uint256);
}
