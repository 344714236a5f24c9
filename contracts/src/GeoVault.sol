// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {MIN_PAYMENT_GAS, tryPayNative} from "./NativePayment.sol";
import {Order, toAddress, toWord} from "./Order.sol";
import {IGeoEscrow} from "./interfaces/IGeoEscrow.sol";
import {Fill, IGeoVault, VaultState} from "./interfaces/IGeoVault.sol";
import {ISwapRouter} from "./interfaces/ISwapRouter.sol";
import {IWrappedNative} from "./interfaces/IWrappedNative.sol";

/// @title GeoVault
/// @notice The service's stock on one chain, and the record of which orders it filled or voided.
/// @dev Roles are the AccessManager's. Escrow, router and tokens of the path are fixed at deployment: no key can point
/// the vault at others. A vault that needs others is a new vault; this one keeps its roles, since releases of the
/// orders that name it still arrive here.
contract GeoVault is IGeoVault, AccessManaged, Pausable, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @dev One slot. What left drains away linearly, the whole cap in an hour.
    struct Outflow {
        uint96 perHour;
        uint96 used;
        uint64 updatedAt;
    }

    /// @notice The escrow of this chain: of same-chain orders, and of the vault's credits.
    IGeoEscrow public immutable ESCROW;
    /// @notice The only contract that stock is swapped through.
    ISwapRouter public immutable ROUTER;
    /// @notice What every path through the router starts from.
    address public immutable SETTLEMENT_TOKEN;
    /// @notice The only token that a path may pass through, and what is unwrapped to deliver the native token.
    address public immutable WRAPPED_NATIVE;

    /// @inheritdoc IGeoVault
    mapping(bytes32 orderId => VaultState) public orderState;

    mapping(address token => Outflow) private _outflow;

    /// @param authority The AccessManager.
    /// @param escrow The escrow of this chain.
    /// @param router Uniswap's SwapRouter02 on this chain.
    /// @param settlementToken The chain's settlement stable.
    /// @param wrappedNative The chain's WETH9.
    constructor(
        address authority,
        IGeoEscrow escrow,
        ISwapRouter router,
        address settlementToken,
        address wrappedNative
    ) AccessManaged(authority) {
        ESCROW = escrow;
        ROUTER = router;
        SETTLEMENT_TOKEN = settlementToken;
        WRAPPED_NATIVE = wrappedNative;
    }

    /// @notice Takes the native token from releases, rebalancing and unwrapping.
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
    function pause() external restricted {
        _pause();
    }

    /// @inheritdoc IGeoVault
    function unpause() external restricted {
        _unpause();
    }

    /// @inheritdoc IGeoVault
    function setOutflowCap(address token, uint96 perHour) external restricted {
        Outflow storage outflow = _outflow[token];
        // No more than the new cap: a lower one would otherwise take hours to let anything out again.
        // forge-lint: disable-next-line(unsafe-typecast)
        outflow.used = uint96(Math.min(_used(outflow), perHour));
        outflow.updatedAt = uint64(block.timestamp);
        outflow.perHour = perHour;
        emit OutflowCapSet(token, perHour);
    }

    /// @inheritdoc IGeoVault
    function withdraw(address token, address to, uint256 amount) external restricted nonReentrant {
        emit Withdrawn(token, to, amount);
        if (token == address(0)) _sendNative(to, amount);
        else IERC20(token).safeTransfer(to, amount);
    }

    /// @inheritdoc IGeoVault
    function claimCredit(address token, address to) external restricted {
        ESCROW.claimTo(token, to);
    }

    /// @inheritdoc IGeoVault
    function outflowCap(address token) external view returns (uint256) {
        return _outflow[token].perHour;
    }

    /// @inheritdoc IGeoVault
    function outflowAvailable(address token) public view returns (uint256) {
        Outflow storage outflow = _outflow[token];
        uint256 used = _used(outflow);
        return used < outflow.perHour ? outflow.perHour - used : 0;
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
            // Reverts unless the order is open: on one chain, delivery and release are one.
            ESCROW.releaseFilled(order);
        }

        address token = toAddress(order.outputToken);
        address spentToken = item.poolFee == 0 ? token : SETTLEMENT_TOKEN;
        _spend(spentToken, item.amount);
        uint256 delivered = token == address(0)
            ? _deliverNative(item, toAddress(order.recipient))
            : _deliverToken(item, token, toAddress(order.recipient));
        // At least one unit, whatever an order that was never opened here may say.
        uint256 minimum = Math.max(1, Math.max(order.minOutput, item.minOutput));
        if (delivered < minimum) revert TooLittleDelivered(delivered, minimum);
        emit Filled(orderId, delivered, spentToken, item.amount);
    }

    /// @dev What counts is what the recipient's balance shows, not what a token or the router says.
    function _deliverToken(Fill calldata item, address token, address recipient) private returns (uint256) {
        uint256 before = IERC20(token).balanceOf(recipient);
        if (item.poolFee == 0) IERC20(token).safeTransfer(recipient, item.amount);
        else _swap(item, token, recipient);
        return IERC20(token).balanceOf(recipient) - before;
    }

    function _deliverNative(Fill calldata item, address recipient) private returns (uint256 amount) {
        amount = item.amount;
        if (item.poolFee != 0) {
            amount = _swap(item, WRAPPED_NATIVE, address(this));
            IWrappedNative(WRAPPED_NATIVE).withdraw(amount);
        }
        _sendNative(recipient, amount);
    }

    /// @dev The path is built here, of tokens that the admin has listed: a call can choose among their pools.
    function _swap(Fill calldata item, address token, address to) private returns (uint256 amountOut) {
        address output = toAddress(item.order.outputToken);
        if (_outflow[output].perHour == 0) revert NotListed(output);
        bool isDirect = item.secondPoolFee == 0;
        uint256 stranded = isDirect ? 0 : IERC20(WRAPPED_NATIVE).balanceOf(address(ROUTER));
        IERC20(SETTLEMENT_TOKEN).forceApprove(address(ROUTER), item.amount);
        amountOut = ROUTER.exactInput(
            ISwapRouter.ExactInputParams({
                path: isDirect
                    ? abi.encodePacked(SETTLEMENT_TOKEN, item.poolFee, token)
                    : abi.encodePacked(SETTLEMENT_TOKEN, item.poolFee, WRAPPED_NATIVE, item.secondPoolFee, token),
                recipient: to,
                amountIn: item.amount,
                amountOutMinimum: item.minOutput
            })
        );
        // A pool that runs dry takes less than it is offered: the first leaves it to us, the second to whoever sweeps
        // the router.
        uint256 left = IERC20(SETTLEMENT_TOKEN).allowance(address(this), address(ROUTER));
        if (!isDirect) left += IERC20(WRAPPED_NATIVE).balanceOf(address(ROUTER)) - stranded;
        if (left != 0) revert BudgetNotSpent(left);
    }

    function _void(bytes32 orderId) private {
        orderState[orderId] = VaultState.Voided;
        emit Voided(orderId);
    }

    function _sendNative(address to, uint256 amount) private {
        if (gasleft() < MIN_PAYMENT_GAS) revert InsufficientGas();
        if (!tryPayNative(to, amount)) revert NativeTransferFailed(to);
    }

    function _spend(address token, uint256 amount) private {
        uint256 available = outflowAvailable(token);
        if (amount > available) revert OutflowCapExceeded(token, amount, available);
        Outflow storage outflow = _outflow[token];
        // Both terms together are at most `perHour`.
        // forge-lint: disable-next-line(unsafe-typecast)
        outflow.used = uint96(_used(outflow) + amount);
        outflow.updatedAt = uint64(block.timestamp);
    }

    function _used(Outflow storage outflow) private view returns (uint256) {
        uint256 drained = uint256(outflow.perHour) * (block.timestamp - outflow.updatedAt) / 1 hours;
        return drained < outflow.used ? outflow.used - drained : 0;
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
            // Four bytes of whatever came back: the rest could be made dear.
            if gt(returndatasize(), 3) {
                returndatacopy(0, 0, 4)
                selector := mload(0)
            }
        }
    }
}
