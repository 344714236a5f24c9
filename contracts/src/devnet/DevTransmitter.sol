// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @dev What a transmitter calls of a message's recipient.
interface IMessageHandlerV2 {
    function handleReceiveFinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body)
        external
        returns (bool);
    function handleReceiveUnfinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body)
        external
        returns (bool);
}

/// @title DevTransmitter
/// @notice A model, for development chains, of Circle's MessageTransmitterV2: the same calls, events, bytes of messages
/// and reasons of reverts.
/// @dev Owner, pause, limits of length and changes of the attesters are left out.
contract DevTransmitter {
    /// @notice A message for another chain.
    event MessageSent(bytes message);
    /// @notice A message of another chain was received.
    event MessageReceived(
        address indexed caller,
        uint32 sourceDomain,
        bytes32 indexed nonce,
        bytes32 sender,
        uint32 indexed finalityThresholdExecuted,
        bytes messageBody
    );

    /// @notice The version of messages. Those of Circle's second contracts have version 1.
    uint32 public constant version = 1;
    /// @notice From this threshold on a message is final.
    uint32 public constant FINALIZED = 2000;

    uint256 private constant _SIGNATURE_LENGTH = 65;

    /// @notice This chain, as Circle numbers it.
    uint32 public immutable localDomain;

    /// @notice Each must sign a message, in ascending order of the addresses.
    address[] public attesters;

    /// @notice 1 for the nonce of a message that was received.
    mapping(bytes32 nonce => uint256) public usedNonces;

    constructor(uint32 domain, address[] memory attesters_) {
        localDomain = domain;
        attesters = attesters_;
        // The nonce of a message that is not attested.
        usedNonces[bytes32(0)] = 1;
    }

    /// @notice Sends a message. Its nonce and its executed finality are zero until it is attested.
    function sendMessage(
        uint32 destinationDomain,
        bytes32 recipient,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        bytes calldata messageBody
    ) external {
        require(destinationDomain != localDomain, "Domain is local domain");
        require(recipient != bytes32(0), "Recipient must be nonzero");
        emit MessageSent(abi.encodePacked(
                version,
                localDomain,
                destinationDomain,
                bytes32(0),
                bytes32(uint256(uint160(msg.sender))),
                recipient,
                destinationCaller,
                minFinalityThreshold,
                uint32(0),
                messageBody
            ));
    }

    /// @notice Receives an attested message, once. Anyone may call this, unless the message names a caller.
    function receiveMessage(bytes calldata message, bytes calldata attestation) external returns (bool) {
        _checkAttestation(keccak256(message), attestation);
        require(message.length >= 148, "Invalid message: too short");
        require(uint32(bytes4(message[8:12])) == localDomain, "Invalid destination domain");
        bytes32 caller = bytes32(message[108:140]);
        require(caller == bytes32(0) || caller == bytes32(uint256(uint160(msg.sender))), "Invalid caller for message");
        require(uint32(bytes4(message[0:4])) == version, "Invalid message version");
        bytes32 nonce = bytes32(message[12:44]);
        require(usedNonces[nonce] == 0, "Nonce already used");
        usedNonces[nonce] = 1;

        uint32 finality = uint32(bytes4(message[144:148]));
        _handle(message, finality);
        emit MessageReceived(
            msg.sender, uint32(bytes4(message[4:8])), nonce, bytes32(message[44:76]), finality, message[148:]
        );
        return true;
    }

    function _handle(bytes calldata message, uint32 finality) private {
        IMessageHandlerV2 recipient = IMessageHandlerV2(address(uint160(uint256(bytes32(message[76:108])))));
        uint32 domain = uint32(bytes4(message[4:8]));
        bytes32 sender = bytes32(message[44:76]);
        if (finality < FINALIZED) {
            require(
                recipient.handleReceiveUnfinalizedMessage(domain, sender, finality, message[148:]),
                "handleReceiveUnfinalizedMessage() failed"
            );
        } else {
            require(
                recipient.handleReceiveFinalizedMessage(domain, sender, finality, message[148:]),
                "handleReceiveFinalizedMessage() failed"
            );
        }
    }

    function _checkAttestation(bytes32 digest, bytes calldata attestation) private view {
        uint256 count = attesters.length;
        require(attestation.length == _SIGNATURE_LENGTH * count, "Invalid attestation length");
        for (uint256 i = 0; i < count; ++i) {
            bytes calldata signature = attestation[i * _SIGNATURE_LENGTH:(i + 1) * _SIGNATURE_LENGTH];
            require(ECDSA.recover(digest, signature) == attesters[i], "Invalid signature: not attester");
        }
    }
}
