// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Mandate} from "../../src/Mandate.sol";
import {Order} from "../../src/Order.sol";
import {IGeoAccount} from "../../src/interfaces/IGeoAccount.sol";
import {unword, word} from "../base/orders.sol";
import {Vm} from "../base/Vm.sol";
import {Token} from "../mocks/Token.sol";
import {Chains} from "./Chains.sol";

/// @dev The part of the books about delegated wallets. It has who agreed to which order, and whether they were allowed
/// to.
///
/// A violation is written down rather than thrown, because a revert would undo the very call that shows it.
abstract contract WalletBooks is Chains {
    /// @dev Who signed an order. What forgers sign is not written down.
    struct Consent {
        /// The wallet's key, in a form that the wallet accepts.
        bool byOwner;
        /// The agent of this mandate, within it or not, as its number in `grants` plus one.
        uint248 grant;
    }

    /// @dev A mandate that the owner signed for one chain.
    struct Grant {
        uint64 chain;
        uint64 epoch;
        uint64 expiry;
        address wallet;
        /// The part of a proof after the agent's signature, which is the mandate and the owner's signature.
        bytes data;
    }

    struct Outflow {
        uint64 time;
        uint192 amount;
    }

    struct Payment {
        address wallet;
        address token;
    }

    uint256 internal constant SOLANA = 792_703_809;
    /// @dev How many outflows before the last one are checked.
    uint256 private constant MEMORY = 40;

    string public violation;

    Grant[] internal grants;
    mapping(bytes32 orderId => Consent) internal consents;
    mapping(address wallet => uint64) internal epochs;
    /// @dev The wallet whose owner revokes all mandates in the call under way.
    address internal revoker;

    /// @dev By tokens' own events what left a wallet, and what the orders that it agreed to name.
    mapping(address wallet => mapping(address token => uint256)) private _left;
    mapping(address wallet => mapping(address token => uint256)) private _agreed;
    Payment[] private _payments;
    mapping(bytes32 key => Outflow[]) private _outflows;

    function _violated(string memory what) internal {
        if (bytes(violation).length == 0) violation = what;
    }

    function _check(bool holds, string memory what) internal {
        if (!holds) _violated(what);
    }

    function _grantOf(uint256 index) internal view returns (Mandate memory mandate) {
        (mandate,) = abi.decode(grants[index].data, (Mandate, bytes));
    }

    function _bookWallet(Vm.Log memory log) internal {
        if (log.topics[0] == IGeoAccount.MandatesRevoked.selector && _isDelegated(log.emitter)) {
            _check(log.emitter == revoker, "V1: mandates were revoked by someone else than their owner");
            epochs[log.emitter] = abi.decode(log.data, (uint64));
        }
        if (log.topics[0] == Token.Transfer.selector && _isDelegated(unword(log.topics[1]))) {
            address wallet = unword(log.topics[1]);
            _left[wallet][log.emitter] += abi.decode(log.data, (uint256));
            _payments.push(Payment(wallet, log.emitter));
        }
    }

    /// @dev An order of a delegated wallet was opened.
    function _bookInput(bytes32 id, Order storage order) internal {
        address wallet = unword(order.wallet);
        if (!_isDelegated(wallet)) return;
        Consent memory consent = consents[id];
        if (!consent.byOwner) {
            _check(consent.grant != 0, "V1: a wallet paid for an order that neither its key nor an agent's signed");
            if (consent.grant != 0) _bookUse(consent.grant - 1, order);
        }
        address token = unword(order.inputToken);
        if (token == NATIVE) return;
        _agreed[wallet][token] += order.inputAmount;
        _payments.push(Payment(wallet, token));
    }

    function _checkWallets() internal {
        for (uint256 i = 0; i < _payments.length; ++i) {
            (address wallet, address token) = (_payments[i].wallet, _payments[i].token);
            _check(
                _left[wallet][token] == _agreed[wallet][token], "V1: a wallet paid for something else than its orders"
            );
        }
        delete _payments;
    }

    /// @dev An outflow that a cap limits. At most the cap may leave immediately, and the cap again in each period.
    function _bookOutflow(bytes32 key, uint256 cap, uint256 period, uint256 amount, string memory what) internal {
        Outflow[] storage list = _outflows[key];
        list.push(Outflow({time: uint64(block.timestamp), amount: uint192(amount)}));
        uint256 sum = 0;
        for (uint256 i = list.length; i > 0 && i + MEMORY > list.length; --i) {
            Outflow memory outflow = list[i - 1];
            sum += outflow.amount;
            _check(sum <= cap + cap * (block.timestamp - outflow.time) / period, what);
        }
    }

    function _forgetOutflows(bytes32 key) internal {
        delete _outflows[key];
    }

    /// @dev V1 and V2 for an order that only an agent signed.
    function _bookUse(uint256 index, Order storage order) private {
        Mandate memory mandate = _grantOf(index);
        _check(mandate.wallet == unword(order.wallet), "V1: an agent used the mandate of another wallet");
        _check(
            _chainId(grants[index].chain) == order.originChainId,
            "V1: an agent used a mandate that is for another chain"
        );
        _check(mandate.epoch == epochs[mandate.wallet], "V1: an agent used a mandate that was revoked");
        _check(block.timestamp < mandate.expiry, "V1: an agent used a mandate that had expired");
        _check(
            word(mandate.originVault) == order.originVault && mandate.attesterSet == order.attesterSet
                && (order.originChainId != order.destinationChainId || order.destinationVault == order.originVault),
            "V1: an agent's order went to another desk"
        );
        _check(_isRecipient(mandate, order), "V1: an agent's order pays someone whom the owner did not name");
        _check(_isOutput(mandate, order), "V1: an agent bought what the owner did not name");
        uint256 cap = 0;
        for (uint256 i = mandate.inputs.length; i > 0; --i) {
            if (word(mandate.inputs[i - 1].token) == order.inputToken) cap = mandate.inputs[i - 1].maxAmount;
        }
        _check(cap != 0, "V1: an agent sold what the owner did not name");
        bytes32 key = keccak256(abi.encode(grants[index].data, order.originChainId, order.inputToken));
        _bookOutflow(key, cap, mandate.period, order.inputAmount, "V2: an agent's orders exceed its mandate's cap");
    }

    function _isRecipient(Mandate memory mandate, Order storage order) private view returns (bool) {
        for (uint256 i = 0; i < mandate.recipients.length; ++i) {
            if (mandate.recipients[i] == order.recipient) return true;
        }
        return order.recipient == order.wallet && order.destinationChainId != SOLANA;
    }

    function _isOutput(Mandate memory mandate, Order storage order) private view returns (bool) {
        for (uint256 i = 0; i < mandate.outputs.length; ++i) {
            bool isToken = mandate.outputs[i].token == order.outputToken;
            if (isToken && mandate.outputs[i].chainId == order.destinationChainId) return true;
        }
        return mandate.outputs.length == 0;
    }
}
