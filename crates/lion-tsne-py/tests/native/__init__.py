"""The compiled half: the same bits as the command line, every refusal a sentence, nothing that leaks."""
