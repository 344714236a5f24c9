// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {MIN_PAYMENT_GAS, tryPayNative} from "./NativePayment.sol";
import {Order, Terms, attesterSetHash, orderOf, toAddress, toWord} from "./Order.sol";
import {Attestation, EscrowState, IGeoEscrow, Opening} from "./interfaces/IGeoEscrow.sol";
import {IGeoPayer} from "./interfaces/IGeoPayer.sol";
import {IGeoVault, VaultState} from "./interfaces/IGeoVault.sol";

/// @title GeoEscrow
/// @notice Holds each order's input whole until the order is decided.
/// @dev There is no owner, no upgrade and no pause. What can happen to an order was fixed when its wallet opened it. An
/// order of another chain or escrow has another id, so it is simply not open here.
contract GeoEscrow is IGeoEscrow, EIP712, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice No order can keep an input longer than this after it was opened.
    uint256 public constant MAX_REFUND_DELAY = 3 days;

    /// @dev Enough to encode and make the call of one item of a batch, beside a unit of gas for each byte of its proof.
    uint256 private constant CALL_GAS = 3_000;

    bytes32 private constant RELEASE_TYPEHASH = keccak256("Release(bytes32[] orderIds)");
    bytes32 private constant REFUND_TYPEHASH = keccak256("Refund(bytes32[] orderIds)");

    /// @inheritdoc IGeoEscrow
    mapping(bytes32 orderId => EscrowState) public orderState;

    /// @inheritdoc IGeoEscrow
    mapping(address token => mapping(address beneficiary => uint256)) public credit;

    constructor() EIP712("Geoswap", "1") {}

    /// @notice Takes the native input of an order that is being opened. Outside the guarded calls it takes nothing.
    receive() external payable {
        if (!_reentrancyGuardEntered()) revert NotOpening();
    }

    /// @inheritdoc IGeoEscrow
    function open(Terms calldata terms) external payable nonReentrant returns (bytes32 orderId) {
        address token;
        (orderId, token) = _newOrder(msg.sender, terms);
        uint256 received = msg.value;
        if (token != address(0)) {
            if (received != 0) revert WrongAmount(0, received);
            uint256 before = IERC20(token).balanceOf(address(this));
            IERC20(token).safeTransferFrom(msg.sender, address(this), terms.inputAmount);
            received = IERC20(token).balanceOf(address(this)) - before;
        }
        _setOpened(orderId, msg.sender, terms, received);
    }

    /// @inheritdoc IGeoEscrow
    function openFor(address wallet, Terms calldata terms, bytes calldata proof)
        external
        nonReentrant
        returns (bytes32 orderId)
    {
        address token;
        (orderId, token) = _newOrder(wallet, terms);
        uint256 before = _balance(token);
        // The wallet agrees by paying, and its own code decides whether it does. The escrow's balance shows what arrived.
        IGeoPayer(wallet).pay(orderId, terms, proof);
        _setOpened(orderId, wallet, terms, _balance(token) - before);
    }

    /// @inheritdoc IGeoEscrow
    function openMany(Opening[] calldata openings) external {
        // A wallet that is called to pay could otherwise report any order as not opened, in the operator's own receipt.
        if (_reentrancyGuardEntered()) revert ReentrancyGuardReentrantCall();
        for (uint256 i = 0; i < openings.length; ++i) {
            Opening calldata item = openings[i];
            // With less than all its gas an honest item could fail, and the batch would look as if it had done its work.
            if (gasleft() < item.gas + item.gas / 63 + CALL_GAS + item.proof.length) revert InsufficientGas();
            try this.openFor{gas: item.gas}(item.wallet, item.terms, item.proof) {}
            catch {
                emit NotOpened(orderOf(item.terms, item.wallet, address(this)).orderId(), _revertSelector());
            }
        }
    }

    /// @inheritdoc IGeoEscrow
    function release(Order calldata order, Attestation calldata attestation) external nonReentrant {
        _release(_attestedOrder(order, attestation, RELEASE_TYPEHASH), order);
    }

    /// @inheritdoc IGeoEscrow
    function releaseMany(Order[] calldata orders, Attestation calldata attestation) external nonReentrant {
        _decideMany(orders, attestation, RELEASE_TYPEHASH, _release);
    }

    /// @inheritdoc IGeoEscrow
    function releaseFilled(Order calldata order) external nonReentrant {
        if (order.destinationChainId != block.chainid || order.destinationVault != toWord(msg.sender)) {
            revert NotTheVault(msg.sender);
        }
        _release(_openOrder(order), order);
    }

    /// @inheritdoc IGeoEscrow
    function refundEarly(Order calldata order, Attestation calldata attestation) external nonReentrant {
        _refund(_attestedOrder(order, attestation, REFUND_TYPEHASH), order);
    }

    /// @inheritdoc IGeoEscrow
    function refundMany(Order[] calldata orders, Attestation calldata attestation) external nonReentrant {
        _decideMany(orders, attestation, REFUND_TYPEHASH, _refund);
    }

    /// @inheritdoc IGeoEscrow
    function refund(Order calldata order) external nonReentrant {
        bytes32 orderId = _openOrder(order);
        if (block.timestamp < order.deadlines.refundAfter() && !_isClosedHere(orderId, order)) {
            revert TooEarly(order.deadlines.refundAfter());
        }
        _refund(orderId, order);
    }

    /// @inheritdoc IGeoEscrow
    function claim(address token, address beneficiary) external {
        _claim(token, beneficiary, beneficiary);
    }

    /// @inheritdoc IGeoEscrow
    function claimTo(address token, address to) external {
        _claim(token, msg.sender, to);
    }

    /// @inheritdoc IGeoEscrow
    function orderIdOf(Order calldata order) external pure returns (bytes32) {
        return order.orderId();
    }

    /// @inheritdoc IGeoEscrow
    function typedDigest(bytes32 structHash) external view returns (bytes32) {
        return _hashTypedDataV4(structHash);
    }

    /// @inheritdoc IGeoEscrow
    function releaseDigest(bytes32[] calldata orderIds) external view returns (bytes32) {
        return _digest(RELEASE_TYPEHASH, orderIds);
    }

    /// @inheritdoc IGeoEscrow
    function refundDigest(bytes32[] calldata orderIds) external view returns (bytes32) {
        return _digest(REFUND_TYPEHASH, orderIds);
    }

    /// @dev Checks the terms of an order that is about to be opened.
    function _newOrder(address wallet, Terms calldata terms) private view returns (bytes32 orderId, address token) {
        if (
            !terms.deadlines.isOrdered() || block.timestamp > terms.deadlines.openDeadline()
                || terms.deadlines.refundAfter() > block.timestamp + MAX_REFUND_DELAY
        ) revert InvalidDeadlines();
        // The upper bound keeps credits, which are sums of inputs, from ever overflowing.
        if (terms.inputAmount == 0 || terms.minOutput == 0 || terms.inputAmount > type(uint128).max) {
            revert InvalidAmount();
        }
        toAddress(terms.originVault);
        token = toAddress(terms.inputToken);
        orderId = orderOf(terms, wallet, address(this)).orderId();
        if (orderState[orderId] != EscrowState.None) revert AlreadyOpened(orderId);
    }

    /// @dev After the payment, so that an order that is not paid for costs no storage. Until then the guard keeps every
    /// other change of state out, this order's own opening included.
    function _setOpened(bytes32 orderId, address wallet, Terms calldata terms, uint256 received) private {
        if (received != terms.inputAmount) revert WrongAmount(terms.inputAmount, received);
        orderState[orderId] = EscrowState.Opened;
        emit Opened(orderId, wallet, terms);
    }

    function _balance(address token) private view returns (uint256) {
        return token == address(0) ? address(this).balance : IERC20(token).balanceOf(address(this));
    }

    function _release(bytes32 orderId, Order calldata order) private {
        orderState[orderId] = EscrowState.Released;
        emit Released(orderId, _payOrCredit(orderId, order, toAddress(order.originVault)));
    }

    function _refund(bytes32 orderId, Order calldata order) private {
        orderState[orderId] = EscrowState.Refunded;
        emit Refunded(orderId, _payOrCredit(orderId, order, toAddress(order.wallet)));
    }

    /// @dev The order is decided either way. An input that cannot be paid out never becomes payable to someone else.
    function _payOrCredit(bytes32 orderId, Order calldata order, address to) private returns (bool paid) {
        address token = toAddress(order.inputToken);
        paid = _pay(token, to, order.inputAmount);
        if (!paid) {
            credit[token][to] += order.inputAmount;
            emit Credited(orderId, to, token, order.inputAmount);
        }
    }

    function _claim(address token, address beneficiary, address to) private nonReentrant {
        uint256 amount = credit[token][beneficiary];
        if (amount == 0) revert NothingToClaim();
        credit[token][beneficiary] = 0;
        if (!_pay(token, to, amount)) revert ClaimFailed();
        emit Claimed(beneficiary, token, to, amount);
    }

    /// @dev Reverts if the payment got too little gas, or a caller could turn a payment into a credit at will. A
    /// token's transfer gets 63/64 of all gas that is left, and the last 64th cannot pay for writing a credit unless
    /// the transfer had more than a million.
    function _pay(address token, address to, uint256 amount) private returns (bool paid) {
        if (gasleft() < MIN_PAYMENT_GAS) revert InsufficientGas();
        return token == address(0) ? tryPayNative(to, amount) : IERC20(token).trySafeTransfer(to, amount);
    }

    /// @dev The order's own vault is on this chain and states that no fill can follow.
    function _isClosedHere(bytes32 orderId, Order calldata order) private view returns (bool) {
        if (order.destinationChainId != block.chainid) return false;
        VaultState state = IGeoVault(toAddress(order.destinationVault)).orderState(orderId);
        return
            state == VaultState.Voided
                || (state == VaultState.None && block.timestamp >= order.deadlines.fillDeadline());
    }

    function _openOrder(Order calldata order) private view returns (bytes32 orderId) {
        orderId = order.orderId();
        if (orderState[orderId] != EscrowState.Opened) revert NotOpen(orderId);
    }

    function _attestedOrder(Order calldata order, Attestation calldata attestation, bytes32 typehash)
        private
        view
        returns (bytes32 orderId)
    {
        orderId = _openOrder(order);
        bytes32 set = attesterSetHash(attestation.threshold, attestation.attesters);
        if (order.attesterSet != set) revert WrongAttesterSet(order.attesterSet, set);
        if (!_isAttestable(order, typehash)) revert NotTheVault(msg.sender);
        bytes32[] memory orderIds = new bytes32[](1);
        orderIds[0] = orderId;
        _checkSignatures(_digest(typehash, orderIds), attestation);
    }

    /// @dev Whether an order is open is checked right before it is decided, because a list may name it twice.
    function _decideMany(
        Order[] calldata orders,
        Attestation calldata attestation,
        bytes32 typehash,
        function(bytes32, Order calldata) internal decide
    ) private {
        bytes32 set = attesterSetHash(attestation.threshold, attestation.attesters);
        bytes32[] memory orderIds = new bytes32[](orders.length);
        for (uint256 i = 0; i < orders.length; ++i) {
            orderIds[i] = orders[i].orderId();
        }
        _checkSignatures(_digest(typehash, orderIds), attestation);
        for (uint256 i = 0; i < orders.length; ++i) {
            if (
                orderState[orderIds[i]] == EscrowState.Opened && orders[i].attesterSet == set
                    && _isAttestable(orders[i], typehash)
            ) {
                decide(orderIds[i], orders[i]);
            } else {
                emit Skipped(orderIds[i]);
            }
        }
    }

    /// @dev On one chain, delivery and release are one call. No attester needs to be believed, so none is.
    function _isAttestable(Order calldata order, bytes32 typehash) private view returns (bool) {
        return typehash != RELEASE_TYPEHASH || order.destinationChainId != block.chainid;
    }

    function _checkSignatures(bytes32 digest, Attestation calldata attestation) private pure {
        uint256 count = attestation.signatures.length;
        if (count < attestation.threshold || attestation.threshold == 0) {
            revert ThresholdNotMet(count, attestation.threshold);
        }
        address previous;
        uint256 next;
        for (uint256 i = 0; i < count; ++i) {
            address signer = ECDSA.recoverCalldata(digest, attestation.signatures[i]);
            // Strictly ascending, so that no signer counts twice, even if the set names it twice.
            if (signer <= previous) revert InvalidAttester(signer);
            previous = signer;
            while (next < attestation.attesters.length && attestation.attesters[next] != signer) ++next;
            if (next == attestation.attesters.length) revert InvalidAttester(signer);
        }
    }

    function _digest(bytes32 typehash, bytes32[] memory orderIds) private view returns (bytes32) {
        return _hashTypedDataV4(keccak256(abi.encode(typehash, keccak256(abi.encodePacked(orderIds)))));
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
