// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Order, Terms} from "../../src/Order.sol";
import {EscrowState, IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {CapKind, IGeoVault, VaultState} from "../../src/interfaces/IGeoVault.sol";
import {termsOf, typedHash, unword, word} from "../base/orders.sol";
import {Vm, vm} from "../base/Vm.sol";
import {CodedWallet} from "../mocks/CodedWallet.sol";
import {Intruder} from "../mocks/Intruder.sol";
import {MoveBooks} from "./MoveBooks.sol";

/// @dev Keeps, from events alone, the books that a follower of the chains would keep, judges every event by the
/// invariants, and compares the books with the state of the contracts and the tokens.
abstract contract Books is MoveBooks {
    struct Entry {
        bool known;
        /// Filled and attested by contracts and keys of the campaign. Only the promises of these orders can be checked.
        bool ours;
        EscrowState escrow;
        VaultState vault;
        uint64 origin;
        uint64 destination;
    }

    Order[] internal orders;
    bytes32[] internal ids;
    /// @dev The orders of the campaign that wait to be decided.
    bytes32[] internal live;
    mapping(bytes32 orderId => Entry) internal entries;
    mapping(bytes32 orderId => uint256) internal indexOf;

    /// @dev Per escrow and token.
    mapping(address => mapping(address => uint256)) internal openSum;
    mapping(address => mapping(address => uint256)) internal creditSum;
    /// @dev Donations and rebases, which are what an escrow holds, or lacks, beyond what was put in and taken out.
    mapping(address => mapping(address => int256)) internal extra;
    mapping(address => mapping(address => mapping(address => uint256))) internal creditOf;
    mapping(address => mapping(address => mapping(address => uint256))) internal minimumOf;

    /// @dev Payments that became credits, and refunds of orders that were delivered but not released in time.
    uint256 internal credits;
    uint256 internal losses;
    uint256 internal topUps;
    uint256 internal topUpsRefused;
    address internal claimer;
    /// @dev The call under way opens orders, and so must not pay out.
    bool internal isOpening;
    bytes32[] private _touched;
    /// @dev The fill whose top-up comes next.
    bytes32 private _toppedUpNext;

    struct Pair {
        address payer;
        address token;
        address to;
    }

    Pair[] private _pairs;
    Pair[] private _credits;

    function _register(Order memory order, bool ours) internal {
        bytes32 id = order.orderId();
        if (entries[id].known) return;
        entries[id].known = true;
        entries[id].ours = ours;
        entries[id].origin = uint64(order.originChainId);
        entries[id].destination = uint64(order.destinationChainId);
        indexOf[id] = orders.length;
        orders.push(order);
        ids.push(id);
    }

    /// @dev Reads the events since the last time. Returns how many were of the kind that an action is about.
    function _book(bytes32 topic) internal returns (uint256 count) {
        (Vm.Log[] memory logs, uint256 length) = _logsThatHappened();
        delete _touched;
        for (uint256 i = 0; i < length; ++i) {
            if (logs[i].topics[0] == topic) ++count;
            if (_isEscrow(logs[i].emitter)) _bookEscrow(logs[i]);
            else if (_isVault(logs[i].emitter)) _bookVault(logs[i]);
            else _bookWallet(logs[i]);
            if (logs[i].topics[0] == CodedWallet.Gave.selector) _bookGift(logs[i]);
        }
        _check(_toppedUpNext == 0, "I3: a fill left its top-up out");
        _toppedUpNext = 0;
        for (uint256 i = 0; i < _touched.length; ++i) {
            _judge(_touched[i]);
        }
        _checkPayments();
        _checkWallets();
        for (uint256 i = 0; i < DELEGATED; ++i) {
            _check(wallets[i].balance >= nativeOf[wallets[i]], "V1: a wallet paid for something else than its orders");
        }
    }

    /// @dev Logs are recorded even of calls that reverted. Those of a whole call are dropped where it is made; here go
    /// those of an item that a batch passed over, and of an intruder's call that failed.
    function _logsThatHappened() private returns (Vm.Log[] memory logs, uint256 length) {
        logs = vm.getRecordedLogs();
        // By depth of calls within calls, where the intruder's call began, and where the batch's item did.
        uint256[] memory starts = new uint256[](logs.length + 1);
        uint256[] memory items = new uint256[](logs.length + 1);
        uint256 depth = 0;
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics.length == 0) continue;
            bytes32 kind = logs[i].topics[0];
            if (kind == Intruder.Attempt.selector) {
                ++depth;
                (starts[depth], items[depth]) = (length, length);
                continue;
            }
            if (kind == Intruder.Attempted.selector) {
                if (!abi.decode(logs[i].data, (bool))) length = starts[depth];
                --depth;
                continue;
            }
            // Only the operator calls the vault's batches, so they are in no other call.
            if (kind == IGeoVault.Skipped.selector) depth = 0;
            bool isPassedOver = kind == IGeoVault.Skipped.selector || kind == IGeoEscrow.NotOpened.selector;
            if (isPassedOver) length = items[depth];
            if (kind == IGeoEscrow.NotOpened.selector && depth != 0 && isOpening) {
                _violated("V6: a batch reported orders while a wallet was paying");
            }
            logs[length++] = logs[i];
            if (isPassedOver || _endsItem(logs[i])) items[depth] = length;
        }
    }

    /// @dev A fill with a top-up has not ended before the top-up.
    function _endsItem(Vm.Log memory log) private view returns (bool) {
        bytes32 kind = log.topics[0];
        if (kind == IGeoVault.Filled.selector) {
            return !entries[log.topics[1]].known || orders[indexOf[log.topics[1]]].topUp == 0;
        }
        return
            kind == IGeoVault.ToppedUp.selector || kind == IGeoVault.Voided.selector
                || kind == IGeoEscrow.Opened.selector;
    }

    function _bookGift(Vm.Log memory log) private {
        (address escrow, uint256 amount) = abi.decode(log.data, (address, uint256));
        extra[escrow][NATIVE] += int256(amount);
        nativeOf[log.emitter] -= amount;
    }

    function _bookEscrow(Vm.Log memory log) private {
        bytes32 kind = log.topics[0];
        if (kind == IGeoEscrow.Opened.selector) return _bookOpened(log);
        if (kind == IGeoEscrow.NotOpened.selector) {
            if (entries[log.topics[1]].known) _touched.push(log.topics[1]);
            return;
        }
        _check(!isOpening || kind == IGeoEscrow.Skipped.selector, "V6: an escrow paid out while a wallet was paying");
        if (kind == IGeoEscrow.Released.selector) {
            Order storage order = _orderOf(log);
            _bookDecided(log, order, EscrowState.Released, unword(order.originVault));
        } else if (kind == IGeoEscrow.Refunded.selector) {
            Order storage order = _orderOf(log);
            _bookDecided(log, order, EscrowState.Refunded, unword(order.wallet));
            _bookRefundTime(log.topics[1], order);
        } else if (kind == IGeoEscrow.Credited.selector) {
            (address who, address token) = (unword(log.topics[2]), unword(log.topics[3]));
            uint256 amount = abi.decode(log.data, (uint256));
            creditSum[log.emitter][token] += amount;
            creditOf[log.emitter][token][who] += amount;
            ++credits;
            _credits.push(Pair(log.emitter, token, who));
        } else if (kind == IGeoEscrow.Claimed.selector) {
            (address who, address token) = (unword(log.topics[1]), unword(log.topics[2]));
            (address to, uint256 amount) = abi.decode(log.data, (address, uint256));
            _check(to == who || who == claimer, "I4: someone else named where a credit goes");
            _check(creditOf[log.emitter][token][who] == amount, "I4: a claim is not the credit");
            creditOf[log.emitter][token][who] = 0;
            _credits.push(Pair(log.emitter, token, who));
            creditSum[log.emitter][token] -= Math.min(amount, creditSum[log.emitter][token]);
            _bookPaid(log.emitter, token, to, amount);
        }
    }

    function _bookOpened(Vm.Log memory log) private {
        bytes32 id = log.topics[1];
        Terms memory terms = abi.decode(log.data, (Terms));
        Order storage order = _orderOf(log);
        Entry storage entry = entries[id];
        _check(entry.escrow == EscrowState.None, "I4: an order was opened twice");
        _check(
            keccak256(abi.encode(terms)) == keccak256(abi.encode(termsOf(order)))
                && unword(log.topics[2]) == unword(order.wallet),
            "I4: an order was opened on other terms than its id says"
        );
        _check(
            unword(order.escrow) == log.emitter && order.originChainId == vm.getChainId(),
            "I4: an order of another escrow was opened"
        );
        _check(block.timestamp <= order.deadlines.openDeadline(), "I5: an order was opened after its openDeadline");
        _check(
            order.deadlines.refundAfter() <= block.timestamp + 3 days, "I12: an order may keep its input for too long"
        );
        entry.escrow = EscrowState.Opened;
        if (entry.ours) live.push(id);
        _checkId(log, terms);
        _bookInput(id, order);
        address token = unword(order.inputToken);
        openSum[log.emitter][token] += order.inputAmount;
        if (token == NATIVE) nativeOf[unword(order.wallet)] -= order.inputAmount;
    }

    /// @dev By the event alone, regardless of the order that has the id.
    function _checkId(Vm.Log memory log, Terms memory terms) private {
        Order memory order = Order({
            wallet: log.topics[2],
            inputToken: terms.inputToken,
            inputAmount: terms.inputAmount,
            originChainId: vm.getChainId(),
            destinationChainId: terms.destinationChainId,
            outputToken: terms.outputToken,
            minOutput: terms.minOutput,
            recipient: terms.recipient,
            topUp: terms.topUp,
            escrow: word(log.emitter),
            originVault: terms.originVault,
            destinationVault: terms.destinationVault,
            attesterSet: terms.attesterSet,
            swapKey: terms.swapKey,
            deadlines: terms.deadlines
        });
        _check(typedHash(order) == log.topics[1], "V7: an order's id is not the hash of its typed data");
    }

    function _bookDecided(Vm.Log memory log, Order storage order, EscrowState state, address to) private {
        Entry storage entry = entries[log.topics[1]];
        _check(entry.escrow == EscrowState.Opened, "I4: an order was decided that was not open");
        _check(unword(order.escrow) == log.emitter, "I4: an escrow decided an order of another escrow");
        if (entry.escrow != EscrowState.Opened || unword(order.escrow) != log.emitter) return;
        entry.escrow = state;
        if (entry.ours) _bury(log.topics[1]);
        address token = unword(order.inputToken);
        openSum[log.emitter][token] -= order.inputAmount;
        if (abi.decode(log.data, (bool))) _bookPaid(log.emitter, token, to, order.inputAmount);
    }

    function _bury(bytes32 id) private {
        for (uint256 i = live.length; i > 0; --i) {
            if (live[i - 1] != id) continue;
            live[i - 1] = live[live.length - 1];
            live.pop();
            return;
        }
    }

    /// @dev Before `refundAfter` only an order that can never be filled may be refunded.
    function _bookRefundTime(bytes32 id, Order storage order) private {
        Entry storage entry = entries[id];
        if (!entry.ours) return;
        if (block.timestamp >= order.deadlines.refundAfter()) {
            if (entry.vault == VaultState.Filled) ++losses;
            return;
        }
        _check(
            entry.vault == VaultState.Voided
                || (entry.vault == VaultState.None && block.timestamp >= order.deadlines.fillDeadline()),
            "I5: an order was refunded early that could be, or was, filled"
        );
    }

    function _bookVault(Vm.Log memory log) private {
        bytes32 kind = log.topics[0];
        if (kind == IGeoVault.Filled.selector) {
            _bookFilled(log);
        } else if (kind == IGeoVault.Voided.selector) {
            Order storage order = _orderOf(log);
            Entry storage entry = entries[log.topics[1]];
            _check(entry.vault == VaultState.None, "I3: an order was voided that was decided");
            _check(_isHome(order, log.emitter), "I3: a vault voided an order that is not its own");
            entry.vault = VaultState.Voided;
        } else if (kind == IGeoVault.Withdrawn.selector) {
            uint256 amount = abi.decode(log.data, (uint256));
            (address token, address to) = (unword(log.topics[1]), unword(log.topics[2]));
            if (token == NATIVE) (nativeOf[log.emitter] -= amount, nativeOf[to] += amount);
            else paid[log.emitter][token][to] += amount;
        } else if (kind == IGeoVault.ToppedUp.selector) {
            _bookTopUp(log);
        } else {
            _bookMove(log);
        }
    }

    function _bookTopUp(Vm.Log memory log) private {
        (uint256 amount, bool wasPaid) = abi.decode(log.data, (uint256, bool));
        Order storage order = _orderOf(log);
        _check(_toppedUpNext == log.topics[1], "I3: a top-up was paid without a fill");
        _check(amount == order.topUp, "I3: a top-up is another than the order's");
        _toppedUpNext = 0;
        _bookSpending(log.emitter, CapKind.Fill, NATIVE, NATIVE, amount);
        if (wasPaid) ++topUps;
        else ++topUpsRefused;
        if (!wasPaid) return;
        nativeOf[log.emitter] -= amount;
        nativeOf[unword(order.recipient)] += amount;
    }

    function _bookFilled(Vm.Log memory log) private {
        (uint256 delivered, address spentToken, uint256 spent) = abi.decode(log.data, (uint256, address, uint256));
        Order storage order = _orderOf(log);
        Entry storage entry = entries[log.topics[1]];
        _check(entry.vault == VaultState.None, "I3: an order was filled that was filled or voided");
        _check(_isHome(order, log.emitter), "I3: a vault filled an order that is not its own");
        _check(delivered >= order.minOutput && delivered != 0, "I3: less was delivered than the order's minimum");
        _check(block.timestamp < order.deadlines.fillDeadline(), "I5: an order was filled after its fillDeadline");
        _check(
            order.originChainId != order.destinationChainId || unword(order.originVault) == log.emitter,
            "I5: a vault delivered a same-chain order whose input goes to someone else"
        );
        _check(
            entry.escrow != EscrowState.Refunded || !entry.ours || order.originChainId == order.destinationChainId
                || block.timestamp >= order.deadlines.refundAfter(),
            "I5: an order was filled after its early refund"
        );
        entry.vault = VaultState.Filled;
        address token = unword(order.outputToken);
        address recipient = unword(order.recipient);
        if (token == NATIVE && spentToken == NATIVE) nativeOf[log.emitter] -= delivered;
        address payer = spentToken == token ? log.emitter : address(pools);
        _bookPaid(payer, token, recipient, delivered);
        minimumOf[payer][token][recipient] += order.minOutput;
        if (_isEscrow(recipient)) extra[recipient][token] += int256(delivered);
        _bookSpending(log.emitter, CapKind.Fill, spentToken, NATIVE, spent);
        _check(_toppedUpNext == 0, "I3: a fill left its top-up out");
        _toppedUpNext = order.topUp == 0 ? bytes32(0) : log.topics[1];
    }

    function _bookPaid(address payer, address token, address to, uint256 amount) private {
        if (token == NATIVE) {
            nativeOf[to] += amount;
            return;
        }
        paid[payer][token][to] += amount;
        _pairs.push(Pair(payer, token, to));
    }

    /// @dev Compares the payments of events with the transfers that the token recorded. An escrow's event is about what
    /// it sent; a vault's is about what arrived. A recipient that takes its refund from inside a token's hook brings
    /// itself more meanwhile, and what it brings itself counts as delivered.
    function _checkPayments() private {
        for (uint256 i = 0; i < _pairs.length; ++i) {
            (address payer, address token, address to) = (_pairs[i].payer, _pairs[i].token, _pairs[i].to);
            uint256 said = paid[payer][token][to];
            uint256 arrived = _token(token).arrived(payer, to);
            if (_isEscrow(payer)) {
                _check(_token(token).sent(payer, to) == said, "I9: an escrow paid another amount than it says");
            } else if (to != payer) {
                _check(
                    token == address(hook) || arrived == said, "I3: another amount arrived at a recipient than was said"
                );
                if (token == address(hook)) {
                    arrived += hook.arrived(address(escrows[0]), to) + hook.arrived(address(escrows[1]), to);
                }
                _check(arrived >= minimumOf[payer][token][to], "I3: a recipient got less than its orders' minimum");
            }
        }
        delete _pairs;
        for (uint256 i = 0; i < _credits.length; ++i) {
            (address escrow, address token, address who) = (_credits[i].payer, _credits[i].token, _credits[i].to);
            _check(
                IGeoEscrow(escrow).credit(token, who) == creditOf[escrow][token][who],
                "I1: a credit is not what events say"
            );
        }
        delete _credits;
    }

    function _judge(bytes32 id) private {
        Entry storage entry = entries[id];
        if (!entry.known) return;
        Order storage order = orders[indexOf[id]];
        if (entry.ours && entry.escrow == EscrowState.Released) {
            _check(entry.vault == VaultState.Filled, "I5: an order was released that was not delivered");
        }
        if (entry.ours && entry.vault == VaultState.Filled && order.originChainId == order.destinationChainId) {
            _check(entry.escrow == EscrowState.Released, "I5: a same-chain order was delivered and not released");
        }
        _checkStates(id);
    }

    function _checkStates(bytes32 id) internal {
        Order storage order = orders[indexOf[id]];
        Entry storage entry = entries[id];
        if (_isEscrow(unword(order.escrow))) {
            _check(
                IGeoEscrow(unword(order.escrow)).orderState(id) == entry.escrow,
                "I4: an escrow's state is not what its events say"
            );
        }
        if (_isVault(unword(order.destinationVault))) {
            _check(
                IGeoVault(unword(order.destinationVault)).orderState(id) == entry.vault,
                "I3: a vault's state is not what its events say"
            );
        }
    }

    function _orderOf(Vm.Log memory log) private returns (Order storage) {
        bytes32 id = log.topics[1];
        _check(entries[id].known, "I4: an event names an order that nobody made");
        _touched.push(id);
        return orders[indexOf[id]];
    }

    function _isHome(Order storage order, address vault) private view returns (bool) {
        return unword(order.destinationVault) == vault && order.destinationChainId == vm.getChainId();
    }
}
