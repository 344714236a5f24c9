// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {InputCap, Mandate, OutputToken} from "../../src/Mandate.sol";
import {Order} from "../../src/Order.sol";
import {IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {termsOf, typedHash, unword, word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {Acting} from "./Acting.sol";

/// @dev What owners and agents sign, and the books of who agreed to what.
abstract contract Signers is Acting {
    uint8 internal constant TYPED = 0;
    uint8 internal constant PERSONAL = 1;
    uint256 private constant AGENTS = 2;

    /// @dev The latest proof that was offered for an order, if it is an owner's.
    mapping(bytes32 orderId => bytes) internal proofs;

    function _openFor(Order memory order, bytes memory proof) internal returns (bool ok) {
        isOpening = true;
        _keep(order, proof);
        bytes memory data = abi.encodeCall(IGeoEscrow.openFor, (unword(order.wallet), termsOf(order), proof));
        return _call(stranger, unword(order.escrow), data);
    }

    /// @dev Proofs with a mandate are long. To keep them would take more time than all the rest.
    function _keep(Order memory order, bytes memory proof) internal {
        if (proof.length < 100) proofs[order.orderId()] = proof;
    }

    /// @dev The owner signs. It agrees to nothing that its wallet should refuse, such as an opaque hash in a wallet
    /// that takes typed data only.
    function _ownersProof(Order memory order, uint8 kind) internal returns (bytes memory) {
        address wallet = unword(order.wallet);
        if (kind == TYPED || wallet == wallets[0]) consents[order.orderId()].byOwner = true;
        return _signed(kind, _walletKey(wallet), _orderDigest(order));
    }

    /// @dev An agent signs, within its mandate or not.
    function _agentsProof(Order memory order, uint256 grant) internal returns (bytes memory) {
        consents[order.orderId()].grant = uint248(grant + 1);
        uint8 kind = order.wallet == word(wallets[0]) && _oneIn(4) ? PERSONAL : TYPED;
        bytes memory signature = _signed(kind, _agentKey(_grantOf(grant).agent), _orderDigest(order));
        return bytes.concat(signature, grants[grant].data);
    }

    function _signed(uint8 kind, uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        if (kind == PERSONAL) digest = keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", digest));
        return abi.encodePacked(kind, _signature(key, digest));
    }

    /// @dev As a wallet computes it, apart from the contracts.
    function _digest(uint256 chain, bytes32 structHash) internal view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("Geoswap"),
                keccak256("1"),
                _chainId(chain),
                escrows[chain]
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }

    function _orderDigest(Order memory order) internal view returns (bytes32) {
        return _digest(_chainOf(order.originChainId), typedHash(order));
    }

    /// @dev A mandate that is live, or a new one.
    function _someGrant(uint256 chain) internal returns (uint256) {
        for (uint256 i = grants.length; i > 0 && i + 8 > grants.length && !_oneIn(12); --i) {
            Grant storage grant = grants[i - 1];
            bool isLive = grant.epoch == epochs[grant.wallet] && vm.getBlockTimestamp() < grant.expiry;
            if (isLive && grant.chain == chain && !_oneIn(4)) return i - 1;
        }
        Mandate memory fresh = _newMandate(chain);
        return _grant(chain, fresh, _walletKey(fresh.wallet));
    }

    function _grant(uint256 chain, Mandate memory mandate, uint256 key) internal returns (uint256) {
        bytes memory signature = _signature(key, _digest(chain, mandate.mandateHash()));
        grants.push(
            Grant({
                chain: uint64(chain),
                epoch: mandate.epoch,
                expiry: mandate.expiry,
                wallet: mandate.wallet,
                data: abi.encode(mandate, signature)
            })
        );
        return grants.length - 1;
    }

    function _newMandate(uint256 chain) internal returns (Mandate memory mandate) {
        mandate.wallet = wallets[_rand(DELEGATED)];
        mandate.agent = vm.addr(_agentKeyAt(_rand(AGENTS)));
        mandate.epoch = epochs[mandate.wallet];
        mandate.expiry = uint64(vm.getBlockTimestamp() + 30 + _rand(1800));
        mandate.period = uint32(10 + _rand(600));
        mandate.originVault = address(vaults[chain]);
        mandate.attesterSet = _set();
        mandate.inputs = new InputCap[](2);
        mandate.inputs[0] = InputCap(_oneIn(2) ? NATIVE : address(plain), uint128(10 ** (6 + _rand(5))));
        mandate.inputs[1] = InputCap(_oneIn(2) ? address(noReturn) : address(hook), uint128(10 ** (6 + _rand(5))));
        if (_oneIn(2)) {
            mandate.outputs = new OutputToken[](2);
            mandate.outputs[0] = OutputToken(_chainId(0), word(_someToken()));
            mandate.outputs[1] = OutputToken(_chainId(1), word(_someToken()));
        }
        if (_oneIn(2)) {
            mandate.recipients = new bytes32[](1);
            mandate.recipients[0] = word(wallets[_rand(wallets.length)]);
        }
    }

    /// @dev An order within a mandate, but for what was used of its cap.
    function _agentsOrder(uint256 chain, uint256 grant) internal returns (Order memory order) {
        Mandate memory mandate = _grantOf(grant);
        uint256 destination = _rand(CHAINS);
        order = _newOrder(chain, destination);
        order.wallet = word(mandate.wallet);
        InputCap memory cap = mandate.inputs[_rand(2)];
        order.inputToken = word(cap.token);
        order.inputAmount = _oneIn(4) ? cap.maxAmount : 1 + _rand(cap.maxAmount);
        if (mandate.outputs.length != 0) order.outputToken = mandate.outputs[destination].token;
        order.recipient = mandate.recipients.length != 0 && _oneIn(2) ? mandate.recipients[0] : order.wallet;
    }

    function _walletKey(address wallet) internal view returns (uint256) {
        return uint256(keccak256(wallet == wallets[0] ? bytes("wallet 0") : bytes("wallet 1")));
    }

    function _strangersKey() internal pure returns (uint256) {
        return uint256(keccak256("stranger"));
    }

    function _agentKeyAt(uint256 index) private pure returns (uint256) {
        return uint256(keccak256(abi.encode("agent", index)));
    }

    function _agentKey(address agent) private pure returns (uint256) {
        return _agentKeyAt(vm.addr(_agentKeyAt(0)) == agent ? 0 : 1);
    }
}
