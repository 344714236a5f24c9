// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {InputCap, Mandate, OutputToken} from "../../src/Mandate.sol";
import {Order} from "../../src/Order.sol";
import {EscrowState, Opening} from "../../src/interfaces/IGeoEscrow.sol";
import {IGeoAccount} from "../../src/interfaces/IGeoAccount.sol";
import {Scene} from "./Scene.sol";
import {Signing} from "./Signing.sol";
import {termsOf, typedHash, unword, word} from "./orders.sol";
import {vm} from "./Vm.sol";

/// @dev The scene, with a wallet that has delegated to GeoAccount (EIP-7702), and an agent that may have a mandate.
abstract contract Wallets is Scene, Signing {
    uint256 internal constant KEY = uint256(keccak256("wallet"));
    uint256 internal constant AGENT_KEY = uint256(keccak256("agent"));
    /// @dev The chain that stands for Solana in an order.
    uint256 internal constant SOLANA = 792_703_809;

    address internal agent = _actor("agent");
    /// @dev The two instances that a wallet may delegate to.
    address internal account;
    address internal typedOnly;

    /// @dev forge prints it by name with `-vv`.
    event log_named_uint(string key, uint256 val);

    function setUp() public virtual override {
        super.setUp();
        account = _deployAccount(escrow, false);
        typedOnly = _deployAccount(escrow, true);
        _delegate(wallet, account);
    }

    function _delegate(address owner, address delegate) internal {
        vm.etch(owner, bytes.concat(hex"ef0100", bytes20(delegate)));
    }

    function _mine() internal view returns (IGeoAccount) {
        return IGeoAccount(wallet);
    }

    /// @dev The order's input from the wallet itself, on a proof by one key.
    function _proof(uint8 kind, uint256 key, Order memory order) internal view returns (bytes memory) {
        return _proofOf(kind, key, _typedDigest(unword(order.escrow), typedHash(order)));
    }

    function _openFor(Order memory order, bytes memory proof) internal returns (bytes32) {
        return escrow.openFor(unword(order.wallet), termsOf(order), proof);
    }

    function _openForReverts(Order memory order, bytes memory proof, bytes memory reason) internal {
        vm.expectRevert(reason);
        escrow.openFor(unword(order.wallet), termsOf(order), proof);
        _isState(order, EscrowState.None);
    }

    function _opening(Order memory order, uint256 gas, bytes memory proof) internal pure returns (Opening memory) {
        return Opening({wallet: unword(order.wallet), gas: gas, terms: termsOf(order), proof: proof});
    }

    function _isOpen(Order memory order) internal view returns (bool) {
        return escrow.orderState(order.orderId()) == EscrowState.Opened;
    }

    /// @dev A mandate for swaps of the plain token into the other one on the other chain, 1000e6 immediately and
    /// again over each day.
    function _mandate() internal view returns (Mandate memory mandate) {
        mandate.wallet = wallet;
        mandate.agent = agent;
        mandate.expiry = uint64(NOW + 30 days);
        mandate.period = 1 days;
        mandate.originVault = address(vault);
        mandate.attesterSet = _set();
        mandate.inputs = new InputCap[](1);
        mandate.inputs[0] = InputCap(address(plain), 1000e6);
        mandate.outputs = new OutputToken[](1);
        mandate.outputs[0] = OutputToken(THERE, word(address(other)));
        mandate.recipients = new bytes32[](0);
    }

    /// @dev An order that the mandate allows.
    function _agentOrder(uint256 amount) internal view returns (Order memory order) {
        order = _order();
        order.inputAmount = amount;
        order.recipient = word(wallet);
    }

    /// @dev The agent's signature over the order, and the mandate with its owner's signature.
    function _agentProof(Mandate memory mandate, Order memory order) internal view returns (bytes memory) {
        return _agentProof(TYPED, AGENT_KEY, mandate, KEY, order);
    }

    function _agentProof(uint8 kind, uint256 agentKey, Mandate memory mandate, uint256 ownerKey, Order memory order)
        internal
        view
        returns (bytes memory)
    {
        bytes memory signature = _sign(ownerKey, _typedDigest(address(escrow), _mandateHash(mandate)));
        return bytes.concat(_proof(kind, agentKey, order), abi.encode(mandate, signature));
    }

    function _agentOpens(Mandate memory mandate, Order memory order) internal {
        _openFor(order, _agentProof(mandate, order));
        _isState(order, EscrowState.Opened);
    }

    function _agentReverts(Mandate memory mandate, Order memory order, bytes memory reason) internal {
        _openForReverts(order, _agentProof(mandate, order), reason);
    }

    function _isOutside(Mandate memory mandate, Order memory order) internal {
        _agentReverts(mandate, order, abi.encodeWithSelector(IGeoAccount.OutsideMandate.selector));
    }
}
